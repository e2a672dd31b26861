/** What an SDK server keeps of its streams, in the order in which it came (the SDK's own sample may confuse that). */

export class EventStore {
  #events = [];

  async storeEvent(streamId, message) {
    this.#events.push({ streamId, message });
    return String(this.#events.length);
  }

  async getStreamIdForEventId(eventId) {
    return this.#events[Number(eventId) - 1]?.streamId;
  }

  async replayEventsAfter(lastEventId, { send }) {
    const last = Number(lastEventId);
    const streamId = await this.getStreamIdForEventId(lastEventId);
    for (const [index, event] of this.#events.entries()) {
      if (index < last || event.streamId !== streamId) continue;
      if (event.message && Object.keys(event.message).length > 0)
        await send(String(index + 1), event.message);
    }
    return streamId;
  }
}

/** The transport contract: two ends that exchange whole messages as text, in order. */

/**
 * One end of a two-way connection. Framing is the transport's business: what comes in and goes out
 * here is the text of exactly one message.
 */
export interface Channel {
  /** Sends one message. Sending on a closed channel does nothing. */
  send(text: string): void;
  /** Takes the messages that come in from now on; called once. `onClose` is called once, last. */
  listen(onMessage: (text: string) => void, onClose: (cause?: Error) => void): void;
  /** Closes both directions; resolves when the other side is gone. Closing twice is closing once. */
  close(): Promise<void>;
}

/** Something that can serve a channel: an `McpServer` is one. A client may be given it as its target. */
export interface ChannelServer {
  serve(channel: Channel): void;
}

/** Two channels joined in memory. A message is delivered after the turn that sent it, as on a real wire. */
export function channelPair(): [Channel, Channel] {
  const left = new MemoryChannel();
  const right = new MemoryChannel();
  left.peer = right;
  right.peer = left;
  return [left, right];
}

class MemoryChannel implements Channel {
  peer!: MemoryChannel;
  #onMessage: ((text: string) => void) | undefined;
  #onClose: ((cause?: Error) => void) | undefined;
  #early: string[] = [];
  #closed = false;

  send(text: string): void {
    if (this.#closed) return;
    queueMicrotask(() => this.peer.#receive(text));
  }

  listen(onMessage: (text: string) => void, onClose: (cause?: Error) => void): void {
    this.#onMessage = onMessage;
    this.#onClose = onClose;
    for (const text of this.#early.splice(0)) onMessage(text);
    if (this.#closed) onClose();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#end();
    queueMicrotask(() => this.peer.#end());
  }

  #receive(text: string): void {
    if (this.#closed) return;
    if (this.#onMessage === undefined) this.#early.push(text);
    else this.#onMessage(text);
  }

  #end(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#onClose?.();
  }
}

/** What is in flight, found by its id. */

const FIRST_SLOTS = 64;
/** 2³² divided by the golden ratio: ids that follow each other come to lie far apart. */
const SPREAD = 0x9e3779b1;

/**
 * A table of what comes and goes fast. A `Map` replaces its own table every few calls, and each that was replaced points
 * to the next: once one has grown old, the garbage collector keeps all that follow, and whatever was in them, until it
 * looks at everything. This one changes places within one array, which is replaced only to become larger.
 */
export class ById<T extends { readonly id: number }> {
  /** Each in the first free slot from that of its id on; at least every other is free. */
  #slots: (T | undefined)[] = new Array(FIRST_SLOTS).fill(undefined);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** @param item its id is not in the table yet, and stays as it is while it is in there */
  add(item: T): void {
    if (++this.#size * 2 > this.#slots.length) this.#grow();
    this.#slots[this.#slotOf(item.id)] = item;
  }

  get(id: number): T | undefined {
    return this.#slots[this.#slotOf(id)];
  }

  /** Takes one out; nothing when it is not there. */
  take(id: number): T | undefined {
    const slots = this.#slots;
    let free = this.#slotOf(id);
    const taken = slots[free];
    if (taken === undefined) return undefined;
    this.#size--;
    // What lies behind, and could not be where this was, moves up.
    for (let at = this.#after(free); ; at = this.#after(at)) {
      const item = slots[at];
      if (item === undefined) break;
      if (this.#distance(this.#home(item.id), at) < this.#distance(free, at)) continue;
      slots[free] = item;
      free = at;
    }
    slots[free] = undefined;
    return taken;
  }

  clear(): void {
    this.#slots.fill(undefined);
    this.#size = 0;
  }

  /** All there are now, the oldest id first. */
  all(): T[] {
    return this.#slots.filter((item) => item !== undefined).sort((a, b) => a.id - b.id);
  }

  /** Where an id is, or would be. */
  #slotOf(id: number): number {
    let at = this.#home(id);
    for (let item = this.#slots[at]; item !== undefined && item.id !== id; item = this.#slots[at])
      at = this.#after(at);
    return at;
  }

  #home(id: number): number {
    return Math.imul(id, SPREAD) >>> (Math.clz32(this.#slots.length) + 1);
  }

  #after(slot: number): number {
    return (slot + 1) & (this.#slots.length - 1);
  }

  #distance(from: number, to: number): number {
    return (to - from) & (this.#slots.length - 1);
  }

  #grow(): void {
    const items = this.#slots;
    this.#slots = new Array(items.length * 2).fill(undefined);
    for (const item of items) if (item !== undefined) this.#slots[this.#slotOf(item.id)] = item;
  }
}

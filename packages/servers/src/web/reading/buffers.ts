/** A bound on what a thread takes outside of its heap: V8 counts no bytes of buffers there. */

/** Smaller ones come and go with the heap. */
const LARGE_BYTES = 64 * 1024;

/**
 * Counts the bytes of all large buffers that are made from now on, those that were let go of too.
 *
 * @param mostBytes of them, for one job
 * @param refusal what is thrown where there would be more
 * @returns begins the next job
 */
export function boundBuffers(mostBytes: number, refusal: () => Error): () => void {
  let taken = 0;
  const take = (bytes: number): void => {
    taken += bytes;
    if (taken > mostBytes) throw refusal();
  };
  // Pictures and streams of a PDF are bytes; other arrays are made over these.
  for (const name of ["Uint8Array", "Uint8ClampedArray", "ArrayBuffer"] as const) {
    const counted = new Proxy(globalThis[name], {
      construct(made, args, maker) {
        if (typeof args[0] === "number" && args[0] >= LARGE_BYTES) take(args[0]);
        return Reflect.construct(made, args, maker);
      },
    });
    Object.defineProperty(globalThis, name, { value: counted });
  }
  // What it decodes comes in small pieces, and is gathered.
  const Native = globalThis.DecompressionStream;
  const Counted = class {
    readonly readable: ReadableStream<Uint8Array>;
    readonly writable: WritableStream;
    constructor(format: ConstructorParameters<typeof Native>[0]) {
      const { readable, writable } = new Native(format);
      const counting = new TransformStream<Uint8Array, Uint8Array>({
        transform(piece, out) {
          take(piece.length);
          out.enqueue(piece);
        },
      });
      this.readable = readable.pipeThrough(counting);
      this.writable = writable;
    }
  };
  Object.defineProperty(globalThis, "DecompressionStream", { value: Counted });
  return () => {
    taken = 0;
  };
}

/** One GET to where the guard lets it, with what it answered decoded as it streams in. */

import type { LookupFunction } from "node:net";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { Agent, Dispatcher } from "undici";
import { unreachable } from "../../fetch-json.ts";
import { type Guard, portOf } from "./guard.ts";

export interface Answered {
  status: number;
  headers: Dispatcher.ResponseData["headers"];
  /**
   * The body without its encodings, as far as `most` bytes.
   *
   * @param received is told of the bytes so far
   * @throws Error when there are more, or they are not of the encoding that was said
   */
  read(most: number, received?: (bytes: number) => void): Promise<{ bytes: Buffer; whole: boolean }>;
  /** Lets go of the body. */
  drop(): void;
}

const DECODERS = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};
type Coding = keyof typeof DECODERS;

/** Codes of what cannot be decoded; those of brotli have two underscores. */
const OF_ZLIB = /^(?:Z_|ERR_(?:_|BROTLI|ZLIB))/;
/** Nobody needs more than one; each could be a bomb within a bomb. */
const MAX_CODINGS = 2;

/** Sends requests, each over a connection of its own to an address that was checked. */
export class Requests {
  readonly #guard: Guard;
  readonly #userAgent: string;
  readonly #connectTimeout: number;
  #agent: Agent | undefined;

  constructor(guard: Guard, userAgent: string, connectTimeout: number) {
    this.#guard = guard;
    this.#userAgent = userAgent;
    this.#connectTimeout = connectTimeout;
  }

  /**
   * Asks for a URL once; a redirect is an answer as any other.
   *
   * @throws Error when the URL may not be asked, or cannot be; when `signal` aborts, its reason
   */
  async get(url: URL, accept: string, signal: AbortSignal): Promise<Answered> {
    this.#guard.check(url);
    const { Agent, buildConnector, request } = await import("undici");
    this.#agent ??= new Agent({
      pipelining: 0,
      connect: (target, callback) => {
        this.#guard.resolve(target.hostname, portOf(target as Pick<URL, "protocol" | "port">)).then(
          (addresses) => {
            // What was checked is what is connected to: nothing is resolved again.
            const lookup: LookupFunction = (_hostname, { all }, found) => {
              if (all === true) found(null, addresses);
              else found(null, addresses[0]?.address as string, addresses[0]?.family as number);
            };
            buildConnector({ timeout: this.#connectTimeout, lookup })(target, callback);
          },
          (error) => callback(error, null),
        );
      },
    });
    try {
      const { statusCode, headers, body } = await request(url, {
        dispatcher: this.#agent,
        signal,
        headers: { accept, "accept-encoding": "gzip, deflate, br", "user-agent": this.#userAgent },
      });
      return {
        status: statusCode,
        headers,
        read: (most, received) => readBody(body, codingsOf(headers), most, received, signal, url.host),
        drop: () => void body.on("error", () => {}).destroy(),
      };
    } catch (error) {
      signal.throwIfAborted();
      throw isSystem(error) ? unreachable(url.host, error) : error;
    }
  }
}

async function readBody(
  body: Dispatcher.ResponseData["body"],
  codings: readonly string[],
  most: number,
  received: ((bytes: number) => void) | undefined,
  signal: AbortSignal,
  host: string,
): Promise<{ bytes: Buffer; whole: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  let whole = true;
  const unknown = codings.find((coding) => !(coding in DECODERS));
  if (unknown !== undefined || codings.length > MAX_CODINGS) {
    body.on("error", () => {}).destroy();
    throw new Error(`${host} sent an encoding that is not read${namesOf(codings)}`);
  }
  const decoders = [...codings].reverse().map((coding) => DECODERS[coding as Coding]());
  try {
    const last = decoders.at(-1) ?? body;
    const piped = decoders.length > 0 ? pipeline([body, ...decoders], { signal }) : Promise.resolve();
    // What decodes goes on when the body has come, for hours if it is made to. Its failure is met where the last stream is read.
    piped.catch(() => {});
    for await (const chunk of last as AsyncIterable<Buffer>) {
      size += chunk.length;
      chunks.push(chunk);
      received?.(size);
      if (size > most) {
        whole = false;
        break;
      }
    }
  } catch (error) {
    signal.throwIfAborted();
    if (OF_ZLIB.test(String((error as { code?: unknown }).code)))
      throw new Error(`${host} sent what is not ${codings.join(", ")}, though it said so`);
    throw unreachable(host, error);
  }
  return { bytes: Buffer.concat(chunks).subarray(0, most), whole };
}

function codingsOf(headers: Dispatcher.ResponseData["headers"]): string[] {
  const value = [headers["content-encoding"] ?? ""].flat().join(",");
  return value
    .toLowerCase()
    .split(",")
    .map((coding) => coding.trim())
    .filter((coding) => coding !== "" && coding !== "identity");
}

/** What a site says is shown where it is the name of something. */
function namesOf(codings: readonly string[]): string {
  return codings.every((coding) => /^[\w-]{1,20}$/.test(coding))
    ? ` (${codings.slice(0, 5).join(", ")})`
    : "";
}

/** An error of the network, and not one of ours. */
function isSystem(error: unknown): boolean {
  return typeof (error as { code?: unknown }).code === "string";
}

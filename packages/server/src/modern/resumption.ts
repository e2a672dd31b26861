/**
 * Asking a modern client: the request ends with what it still needs, and its retry runs the handler again with
 * each answer so far at hand (basic/patterns/mrtr).
 */

import {
  canonicalJson,
  ErrorCode,
  fingerprint,
  type InputRequest,
  type InputRequiredResult,
  isObject,
  type JsonObject,
  type JsonValue,
  limitError,
  MissingCapabilityError,
  missingCapability,
  ProtocolError,
} from "@patchbay/core";
import type { Call, Dialogue } from "../exchange.ts";
import { digestOf, type Sealer } from "../sealing.ts";

export interface ResumptionLimits {
  /** Milliseconds in which a suspended request has to be taken up again. Default 10 minutes. */
  stateTtl: number;
  /** Questions that one request may ask in all. Default 64. */
  maxQuestions: number;
  /** Characters of a sealed state. Default 65,536. */
  maxStateBytes: number;
}

export const DEFAULT_RESUMPTION_LIMITS: ResumptionLimits = {
  stateTtl: 10 * 60_000,
  maxQuestions: 64,
  maxStateBytes: 65_536,
};

/** A question that has gone out, and its answer once there is one. */
interface Asked {
  key: string;
  mark: string;
  answer?: JsonObject;
}

/** What a state holds. Its members are short because they travel. */
interface Past {
  asked: Asked[];
  steps: Record<string, JsonValue>;
}

/** The handler's run has ended because it has to wait; whatever it does now is ignored. */
export class SuspendedError extends Error {
  constructor() {
    super("This run of the handler is over: it is run again when the client has answered");
    this.name = "SuspendedError";
  }
}

/** The dialogue of one modern request. */
export class Resumption implements Dialogue {
  readonly #call: Call;
  readonly #method: string;
  readonly #request: string;
  readonly #sealer: Sealer;
  readonly #limits: ResumptionLimits;
  /** The answers that the request brings, by key. */
  readonly #brought: JsonObject;
  readonly #asked: Asked[];
  readonly #steps: Record<string, JsonValue>;
  readonly #running = new Map<string, Promise<unknown>>();
  readonly #waiting: { asked: Asked; request: InputRequest; reject: (cause: Error) => void }[] = [];
  #next = 0;
  #suspended = false;

  private constructor(
    call: Call,
    method: string,
    params: JsonObject,
    sealer: Sealer,
    limits: ResumptionLimits,
    past: Past,
  ) {
    const { inputResponses = {} } = params;
    if (!isObject(inputResponses))
      throw new ProtocolError(ErrorCode.InvalidParams, '"inputResponses" must be an object');
    this.#brought = inputResponses;
    this.#call = call;
    this.#method = method;
    this.#request = identityOf(method, params);
    this.#sealer = sealer;
    this.#limits = limits;
    this.#asked = past.asked;
    this.#steps = past.steps;
  }

  /**
   * The dialogue of a request that brings no state: it comes for the first time, or brings all answers itself.
   *
   * @throws ProtocolError (−32602) when its answers are no object
   */
  static begin(
    call: Call,
    method: string,
    params: JsonObject,
    sealer: Sealer,
    limits: ResumptionLimits,
  ): Resumption {
    return new Resumption(call, method, params, sealer, limits, { asked: [], steps: {} });
  }

  /**
   * The dialogue of a retry, with the answers that it brings.
   *
   * @throws ProtocolError (−32602) when the state was changed, has expired, or belongs to another request
   */
  static async resume(
    call: Call,
    method: string,
    params: JsonObject,
    sealer: Sealer,
    limits: ResumptionLimits,
  ): Promise<Resumption> {
    const { requestState } = params;
    if (typeof requestState !== "string" || requestState.length > limits.maxStateBytes) {
      throw badState("unreadable", "it must be the text that this server gave");
    }
    const state = await sealer.open(requestState);
    if (state === undefined) throw badState("tampered", "it was changed, or sealed with another key");
    if (state.r !== (await digestOf(identityOf(method, params))))
      throw badState("foreign", "it belongs to another request");
    if (!(Number(state.e) > Date.now())) throw badState("expired", "it has expired; send the request anew");
    return new Resumption(call, method, params, sealer, limits, {
      asked: state.q as unknown as Asked[],
      steps: state.s as Record<string, JsonValue>,
    });
  }

  ask(request: InputRequest, key?: string): Promise<JsonObject> {
    if (this.#suspended) return Promise.reject(new SuspendedError());
    const missing = missingCapability(request, this.#call.client.capabilities);
    if (missing !== undefined)
      return Promise.reject(new MissingCapabilityError(request.method, missing as JsonObject));
    const index = this.#next++;
    const mark = fingerprint(request);
    const known = this.#asked[index];
    if (known !== undefined && known.mark !== mark) return Promise.reject(changed(this.#method, index));
    if (known?.answer !== undefined) return Promise.resolve(known.answer);
    let asked = known;
    if (asked === undefined) {
      asked = { key: this.#freeKey(key ?? `${index + 1}`), mark };
      if (this.#asked.length >= this.#limits.maxQuestions) {
        const { maxQuestions } = this.#limits;
        return Promise.reject(
          limitError(
            "maxQuestions",
            `the request asks more than maxQuestions allows (${maxQuestions})`,
            maxQuestions,
          ),
        );
      }
      this.#asked[index] = asked;
    }
    if (Object.hasOwn(this.#brought, asked.key)) {
      const answer = this.#brought[asked.key];
      if (!isObject(answer)) return Promise.reject(badAnswer(asked.key));
      asked.answer = answer;
      return Promise.resolve(answer);
    }
    const waits = { asked, request, reject: (_cause: Error) => {} };
    // What is asked in the same turn goes out together.
    if (this.#waiting.length === 0) setTimeout(() => this.#suspend(), 0);
    this.#waiting.push(waits);
    return new Promise((_, reject) => {
      waits.reject = reject;
    });
  }

  step(name: string, run: () => unknown): Promise<unknown> {
    if (this.#suspended) return Promise.reject(new SuspendedError());
    if (Object.hasOwn(this.#steps, name)) return Promise.resolve(this.#steps[name]);
    let running = this.#running.get(name);
    if (running === undefined) {
      running = Promise.resolve()
        .then(run)
        .then((given) => {
          this.#steps[name] = (given ?? null) as JsonValue;
          return given;
        });
      this.#running.set(name, running);
    }
    return running;
  }

  /** A key once given is the same question's in every round. */
  #freeKey(wanted: string): string {
    let key = wanted;
    for (let copy = 2; this.#asked.some((asked) => asked.key === key); copy++) key = `${wanted}-${copy}`;
    return key;
  }

  #suspend(): void {
    if (this.#call.cancelled) return;
    this.#suspended = true;
    const inputRequests = Object.fromEntries(this.#waiting.map(({ asked, request }) => [asked.key, request]));
    const result = this.#seal().then(
      (requestState): InputRequiredResult => ({ resultType: "input_required", inputRequests, requestState }),
    );
    const suspended = new SuspendedError();
    this.#call.suspend(result, suspended);
    for (const { reject } of this.#waiting) reject(suspended);
  }

  async #seal(): Promise<string> {
    // A step that was under way is finished first, so that it is not done again.
    await Promise.allSettled(this.#running.values());
    const state = await this.#sealer.seal({
      r: await digestOf(this.#request),
      e: Date.now() + this.#limits.stateTtl,
      q: this.#asked as unknown as JsonValue,
      s: this.#steps,
    });
    const { maxStateBytes } = this.#limits;
    if (state.length > maxStateBytes) {
      throw limitError(
        "maxStateBytes",
        `what the request has to remember passes maxStateBytes (${maxStateBytes})`,
        maxStateBytes,
      );
    }
    return state;
  }
}

/** A state belongs to one request: its method and parameters, without what differs from round to round. */
function identityOf(method: string, params: JsonObject): string {
  const { _meta, requestState, inputResponses, ...own } = params;
  return canonicalJson({ method, params: own });
}

function badAnswer(key: string): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidParams, `inputResponses["${key}"] must be an object`);
}

function badState(reason: "unreadable" | "tampered" | "foreign" | "expired", what: string): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidParams, `Invalid requestState: ${what}`, { reason });
}

function changed(method: string, index: number): ProtocolError {
  return new ProtocolError(
    ErrorCode.InternalError,
    `${method}: question ${index + 1} is not the one that was asked before. A handler that is run again has to ask ` +
      "the same questions in the same order; keep what may change in ctx.step()",
  );
}

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
  ProtocolError,
  type Result,
  type UrlElicitationRequiredError,
} from "@patchbay/core";
import { type Call, type Dialogue, spelled } from "../exchange.ts";
import { failure } from "../features/tool-result.ts";
import { digestOf, type Sealer } from "../sealing.ts";
import type { UsedStates } from "./used-states.ts";

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

/** What may be answered by `input_required` (basic/patterns/mrtr § Supported Requests). */
export const RESUMABLE: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"]);

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
    this.#request = identityOf(call, method, params);
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
   * @param once where a state may be taken up only once
   * @throws ProtocolError (−32602) when the state was changed, has expired, was used, or belongs to another request
   */
  static async resume(
    call: Call,
    method: string,
    params: JsonObject,
    sealer: Sealer,
    limits: ResumptionLimits,
    once?: UsedStates,
  ): Promise<Resumption> {
    const { requestState } = params;
    if (typeof requestState !== "string" || requestState.length > limits.maxStateBytes) {
      throw badState("unreadable", "it must be the text that this server gave");
    }
    const state = await sealer.open(requestState);
    if (state === undefined) throw badState("tampered", "it was changed, or sealed with another key");
    if (state.r !== (await digestOf(identityOf(call, method, params))))
      throw badState("foreign", "it belongs to another request");
    if (!(Number(state.e) > Date.now())) throw badState("expired", "it has expired; send the request anew");
    if (once !== undefined && !(await once.use(await digestOf(requestState), Number(state.e))))
      throw badState("used", "it was used already, and goes on only once; send the request anew");
    return new Resumption(call, method, params, sealer, limits, {
      asked: state.q as unknown as Asked[],
      steps: state.s as Record<string, JsonValue>,
    });
  }

  async ask(asking: InputRequest, key?: string): Promise<JsonObject> {
    if (this.#suspended) throw new SuspendedError();
    if (!RESUMABLE.has(this.#method)) throw cannotAsk(this.#method);
    const request = spelled(asking, this.#call.caller);
    const index = this.#next++;
    const mark = fingerprint(request);
    const known = this.#asked[index];
    if (known !== undefined && known.mark !== mark) throw changed(this.#method, index);
    if (known?.answer !== undefined) return known.answer;
    let asked = known;
    if (asked === undefined) {
      asked = { key: this.#freeKey(key ?? `${index + 1}`), mark };
      if (this.#asked.length >= this.#limits.maxQuestions) {
        const { maxQuestions } = this.#limits;
        const what = `the request asks more than maxQuestions allows (${maxQuestions})`;
        throw limitError("maxQuestions", what, maxQuestions);
      }
      this.#asked[index] = asked;
    }
    if (Object.hasOwn(this.#brought, asked.key)) {
      const answer = this.#brought[asked.key];
      if (!isObject(answer)) throw badAnswer(asked.key);
      asked.answer = answer;
      return answer;
    }
    const waits = { asked, request, reject: (_cause: Error) => {} };
    // What is asked in the same turn goes out together.
    if (this.#waiting.length === 0) setTimeout(() => this.#suspend(), 0);
    this.#waiting.push(waits);
    return new Promise((_, reject) => {
      waits.reject = reject;
    });
  }

  /**
   * Asks for the visits that the request needs, and again as long as the handler says so. A user who does not want
   * to ends the request.
   */
  async require(needed: UrlElicitationRequiredError): Promise<Result> {
    if (!RESUMABLE.has(this.#method)) throw needed;
    const inputRequests: Record<string, InputRequest> = {};
    for (const [index, params] of needed.elicitations.entries()) {
      const key = this.#freeKey(`visit-${index + 1}`);
      const answer = Object.hasOwn(this.#brought, key) ? this.#brought[key] : undefined;
      if (isObject(answer) && answer.action !== "accept") return this.#unvisited(params.message);
      inputRequests[key] = spelled({ method: "elicitation/create", params }, this.#call.caller);
    }
    return this.#inputRequired(inputRequests);
  }

  #unvisited(why: string): Result {
    const what = `The user did not visit a page that the request needs: ${why}`;
    if (this.#method === "tools/call") return { ...failure(what) };
    throw new ProtocolError(ErrorCode.InvalidRequest, what);
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
    const suspended = new SuspendedError();
    this.#call.suspend(this.#inputRequired(inputRequests), suspended);
    for (const { reject } of this.#waiting) reject(suspended);
  }

  async #inputRequired(inputRequests: Record<string, InputRequest>): Promise<InputRequiredResult> {
    return { resultType: "input_required", inputRequests, requestState: await this.#seal() };
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

/** A state belongs to one request: who sent it, its method and parameters, without what differs from round to round. */
function identityOf({ access }: Call, method: string, params: JsonObject): string {
  const { _meta, requestState, inputResponses, ...own } = params;
  return canonicalJson({ principal: access?.principal ?? null, method, params: own });
}

function badAnswer(key: string): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidParams, `inputResponses["${key}"] must be an object`);
}

function badState(
  reason: "unreadable" | "tampered" | "foreign" | "expired" | "used",
  what: string,
): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidParams, `Invalid requestState: ${what}`, { reason });
}

function cannotAsk(method: string): Error {
  return new Error(
    `${method} cannot ask its client: only ${[...RESUMABLE].join(", ")} can, in a revision without sessions`,
  );
}

function changed(method: string, index: number): ProtocolError {
  return new ProtocolError(
    ErrorCode.InternalError,
    `${method}: question ${index + 1} is not the one that was asked before. A handler that is run again has to ask ` +
      "the same questions in the same order; keep what may change in ctx.step()",
  );
}

/** What the servers ask: of the user, of the host's model, of where they may work. Given to `connect`, for each server. */

import type { ConnectOptions } from "@patchbay/client";
import type {
  CreateMessageParams,
  CreateMessageResult,
  ElicitParams,
  ElicitResult,
  Root,
} from "@patchbay/core";
import type { ApprovalAnswer, SamplingApproval } from "../consent/approvals.ts";
import type { HostEvent } from "../events.ts";
import type { Model } from "../models/model.ts";
import type { OneAtATime } from "./one-at-a-time.ts";

/** What a callback is given besides the question. */
export interface AskedBy {
  /** As the configuration names the server: users must be shown who asks. */
  server: string;
  /** Aborts when the answer is no longer wanted. */
  signal: AbortSignal;
}

/** Asks the user to fill in a form, or to visit a page. One question at a time, whichever server asks. */
export type OnElicit = (params: ElicitParams, by: AskedBy) => ElicitResult | Promise<ElicitResult>;

/** How servers may use the model of the host (client/sampling). */
export interface SamplingOptions {
  /** The models that may answer; a server's hints choose among them, else the first does. Default: the host's. */
  models?: readonly Model[];
  /** Tokens of one answer, however many a server wants. Default 4,096. */
  maxTokens?: number;
}

/** Where servers may work (client/roots): all of them, or each by its name. */
export type HostRoots = readonly Root[] | ((server: string) => readonly Root[] | undefined);

/** What a host gives to `connect`. */
export type HostConnectOptions = Pick<ConnectOptions, "onElicit" | "onSample" | "roots" | "onSessionLost">;

export interface DeskOptions {
  model: Model;
  onElicit: OnElicit | undefined;
  /** False: servers are told that they cannot ask. */
  sampling: SamplingOptions | false;
  roots: HostRoots | undefined;
  askPerson: (request: SamplingApproval, signal: AbortSignal) => Promise<ApprovalAnswer>;
  inTurn: OneAtATime;
  onEvent: (event: HostEvent) => void;
  /** Aborts when no turn is running any more. */
  turnsOver: () => AbortSignal;
}

const CHOICES = ["once", "session", "deny"] as const;
const MAX_TOKENS = 4_096;

export class Desk {
  readonly #options: DeskOptions;
  /** Servers that may use the model until this program ends. */
  readonly #samples = new Set<string>();

  constructor(options: DeskOptions) {
    this.#options = options;
  }

  connectOptions(server: string): HostConnectOptions {
    const { model, onElicit, sampling, roots, onEvent } = this.#options;
    const ofServer = typeof roots === "function" ? roots(server) : roots;
    // The rule planner writes nothing, so no server is told that there is a model.
    const models = sampling === false ? [] : (sampling.models ?? [model]);
    const samples = models.some(({ provider }) => provider !== "rules");
    return {
      ...(onElicit && { onElicit: (params, { signal }) => this.#elicit(server, params, signal, onElicit) }),
      ...(samples && { onSample: (params, { signal }) => this.#sample(server, params, signal) }),
      ...(ofServer && { roots: ofServer }),
      onSessionLost: ({ message }) => onEvent({ type: "server_restarted", server, reason: message }),
    };
  }

  #elicit(
    server: string,
    params: ElicitParams,
    wanted: AbortSignal,
    onElicit: OnElicit,
  ): Promise<ElicitResult> {
    const { inTurn, onEvent } = this.#options;
    const signal = this.#until(wanted);
    onEvent({ type: "question", server, kind: "elicitation" });
    return inTurn(signal, async () => onElicit(params, { server, signal }));
  }

  async #sample(
    server: string,
    params: CreateMessageParams,
    wanted: AbortSignal,
  ): Promise<CreateMessageResult> {
    const { model: own, sampling, askPerson, onEvent } = this.#options;
    const { models = [own], maxTokens = MAX_TOKENS } = sampling === false ? {} : sampling;
    const signal = this.#until(wanted);
    const { chosenModel, sample } = await import("./sampling.ts");
    const model = chosenModel(models, params);
    onEvent({ type: "question", server, kind: "sampling" });
    if (!this.#samples.has(server)) {
      const answer = await askPerson(
        {
          kind: "sampling",
          server,
          model: model.label,
          params,
          why: "It wants your model to write something, at your expense.",
          choices: CHOICES,
        },
        signal,
      );
      if (answer !== "once" && answer !== "session") {
        const { ProtocolError } = await import("@patchbay/core");
        // What the specification's example has for it (client/sampling § Error Handling).
        throw new ProtocolError(-1, "User rejected sampling request");
      }
      if (answer === "session") this.#samples.add(server);
    }
    const began = performance.now();
    const { result, usage } = await sample(model, params, server, maxTokens, signal);
    const milliseconds = performance.now() - began;
    onEvent({ type: "sampling", server, model: model.label, milliseconds, ...(usage && { usage }) });
    return result;
  }

  #until(wanted: AbortSignal): AbortSignal {
    return AbortSignal.any([wanted, this.#options.turnsOver()]);
  }
}

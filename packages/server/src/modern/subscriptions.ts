/** `subscriptions/listen`: a request that stays open and tells of changes (basic/patterns/subscriptions). */

import {
  ErrorCode,
  isObject,
  type JsonObject,
  limitError,
  META,
  ProtocolError,
  type RequestId,
  type RequestMessage,
  type Result,
} from "@patchbay/core";
import { atExpiry } from "../auth/expiry.ts";
import { Shares } from "../auth/shares.ts";
import { type KnownChange, notificationOf, possibleChanges } from "../changes.ts";
import type { Call } from "../exchange.ts";
import type { McpServer } from "../server.ts";
import { knownTasks, tellTask } from "../tasks/modern.ts";

/** What a client wants to be told of. */
interface Filter {
  toolsListChanged?: boolean;
  promptsListChanged?: boolean;
  resourcesListChanged?: boolean;
  resourceSubscriptions?: string[];
  /** Of the tasks extension (SEP-2663 § Task Status Notifications). */
  taskIds?: string[];
}

const LISTS = {
  tools: "toolsListChanged",
  prompts: "promptsListChanged",
  resources: "resourcesListChanged",
} as const;

const ENDS = "The server ends the subscription";

export interface SubscriptionLimits {
  /** Subscriptions that may be open at once on one endpoint or connection. Default 10,000. */
  maxSubscriptions?: number;
  /** Those of one principal, where requests are authorized. Default 1000. */
  maxSubscriptionsPerPrincipal?: number;
  /** Resources that one subscription may watch, and tasks. Default 1000. */
  maxWatched?: number;
}

/** The subscriptions that are open on one endpoint or connection. */
export class Subscriptions {
  readonly #maxSubscriptions: number;
  readonly #shares: Shares;
  readonly #maxWatched: number;
  readonly #callsOff: boolean;
  readonly #open = new Set<() => void>();

  /**
   * @param callsOff whether a subscription that the server ends is called off, besides being answered: where it has no
   *   stream of its own, whose end says as much (basic/patterns/cancellation § Transport-Specific Cancellation)
   */
  constructor(limits: SubscriptionLimits, callsOff: boolean) {
    const { maxSubscriptions = 10_000, maxSubscriptionsPerPrincipal = 1000, maxWatched = 1000 } = limits;
    this.#callsOff = callsOff;
    this.#shares = new Shares(
      "maxSubscriptionsPerPrincipal",
      "subscriptions of yours are open",
      maxSubscriptionsPerPrincipal,
    );
    this.#maxSubscriptions = maxSubscriptions;
    this.#maxWatched = maxWatched;
  }

  get size(): number {
    return this.#open.size;
  }

  /**
   * Answers `subscriptions/listen`: resolves when it is over, with the result that ends it gracefully.
   *
   * @throws ProtocolError for a filter that is none, or a limit
   */
  async listen(server: McpServer, { id, params }: RequestMessage, call: Call): Promise<Result> {
    const filter = agreeOn(params.notifications, server, call, this.#maxWatched);
    if (filter.taskIds !== undefined) filter.taskIds = await knownTasks(server, filter.taskIds, call);
    const endWatching = await watchAll(filter, server, call);
    try {
      return await this.#tell(filter, server, id, call);
    } finally {
      endWatching();
    }
  }

  /** Tells of what was agreed on, until it is over. */
  async #tell(filter: Filter, server: McpServer, id: RequestId, call: Call): Promise<Result> {
    await server.changes.expectListener();
    if (this.#open.size >= this.#maxSubscriptions) {
      const limit = this.#maxSubscriptions;
      throw limitError(
        "maxSubscriptions",
        `more subscriptions are open than maxSubscriptions allows (${limit})`,
        limit,
      );
    }
    const _meta = { [META.subscriptionId]: id };
    const watched = new Set(filter.resourceSubscriptions);
    if (call.cancelled) return { _meta };
    const giveBack = this.#shares.take(call.access?.principal);
    call.notify("notifications/subscriptions/acknowledged", { _meta, notifications: filter });
    return new Promise((resolve) => {
      const untell = (filter.taskIds ?? []).map((task) =>
        tellTask(server, task, call, (state) => call.notify("notifications/tasks", { ...state, _meta })),
      );
      const unsubscribe = server.changes.subscribe((change) => {
        for (const possible of possibleChanges(change, watched)) {
          if (!wants(filter, watched, possible)) continue;
          const { method, params: told } = notificationOf(possible);
          call.notify(method, { ...told, _meta });
        }
      });
      const end = () => {
        unsubscribe();
        callOff();
        for (const end of untell) end();
        this.#open.delete(tearDown);
        giveBack();
        resolve({ _meta });
      };
      const tearDown = () => {
        // Before the result: only what is in progress may be called off (basic/patterns/cancellation).
        if (this.#callsOff) call.notify("notifications/cancelled", { requestId: id, reason: ENDS, _meta });
        end();
      };
      const callOff = atExpiry(call.access, tearDown);
      this.#open.add(tearDown);
      call.signal.addEventListener("abort", end, { once: true });
    });
  }

  /** Ends all of them gracefully. */
  end(): void {
    for (const tearDown of this.#open) tearDown();
  }
}

/** The part of a filter that the server can honor (§ Acknowledgment). */
function agreeOn(asked: unknown, server: McpServer, call: Call, maxWatched: number): Filter {
  if (!isObject(asked)) throw new ProtocolError(ErrorCode.InvalidParams, '"notifications" must be an object');
  const { tools, prompts, resources } = server.capabilities;
  const filter: Filter = {};
  if (asked.toolsListChanged === true && tools?.listChanged) filter.toolsListChanged = true;
  if (asked.promptsListChanged === true && prompts?.listChanged) filter.promptsListChanged = true;
  if (asked.resourcesListChanged === true && resources?.listChanged) filter.resourcesListChanged = true;
  const uris = watchedOf(asked, "resourceSubscriptions", "URIs", maxWatched);
  const watched = uris.filter((uri) => !server.hides(uri, call));
  if (watched.length > 0 && resources?.subscribe) filter.resourceSubscriptions = watched;
  const taskIds = watchedOf(asked, "taskIds", "task ids", maxWatched);
  if (taskIds.length > 0 && server.tasks.offered) filter.taskIds = taskIds;
  return filter;
}

/** Has resources watched that are watched for those who ask; one that is refused is not honored. */
async function watchAll(filter: Filter, server: McpServer, call: Call): Promise<() => void> {
  const ends: (() => void)[] = [];
  const end = () => {
    for (const each of ends) each();
  };
  const honored: string[] = [];
  for (const uri of filter.resourceSubscriptions ?? []) {
    try {
      const watch = server.watchOf(uri, call);
      if (watch !== undefined) ends.push(await watch(uri));
      honored.push(uri);
    } catch (error) {
      if (error instanceof ProtocolError) continue;
      end();
      throw error;
    }
  }
  if (honored.length > 0) filter.resourceSubscriptions = honored;
  else delete filter.resourceSubscriptions;
  return end;
}

function watchedOf(asked: JsonObject, member: string, what: string, maxWatched: number): string[] {
  const watched = asked[member] ?? [];
  if (!Array.isArray(watched) || !watched.every((one) => typeof one === "string")) {
    throw new ProtocolError(ErrorCode.InvalidParams, `"notifications.${member}" must be a list of ${what}`);
  }
  if (watched.length > maxWatched) {
    const message = `more ${what} are watched than maxWatched allows (${maxWatched})`;
    throw limitError("maxWatched", message, maxWatched);
  }
  return watched;
}

function wants(filter: Filter, watched: Set<string>, change: KnownChange): boolean {
  if (change.kind === "visit") return false;
  return change.kind === "resource" ? watched.has(change.uri) : filter[LISTS[change.kind]] === true;
}

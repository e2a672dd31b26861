/** Decides what may happen: by rules, by what was approved before, or by asking a person. */

import type { JsonObject, Tool } from "@patchbay/core";
import type { ApprovalEvent } from "../events.ts";
import type { OneAtATime } from "../questions/one-at-a-time.ts";
import type {
  ApprovalAnswer,
  ApprovalRequest,
  OnApproval,
  ServerApproval,
  ToolApproval,
} from "./approvals.ts";
import { type ServerIdentity, trustKey } from "./identity.ts";
import { hashOf, identityDiff, pinOf, toolChanges } from "./pins.ts";
import { type ApprovalRules, readRules } from "./rules.ts";
import { memoryTrust, type PinnedTool, type TrustedServer, type TrustStore } from "./trust.ts";

/** A call that the model wants made. */
export interface WantedCall {
  id: string;
  server: string;
  tool: Tool;
  arguments: JsonObject;
  /** The tool that brought content from outside into the conversation, if one has. */
  untrusted: string | undefined;
}

export type Decision = { run: true } | { denied: string } | { ask: ToolApproval };

export interface ConsentOptions {
  rules: ApprovalRules;
  onApproval: OnApproval | undefined;
  trust: TrustStore;
  inTurn: OneAtATime;
  onEvent: (event: ApprovalEvent) => void;
}

interface Known {
  identity: ServerIdentity;
  key: string;
  store: TrustStore;
  trusted: TrustedServer;
  /** Hashes of changed tools, and what was said of them in this session. */
  changes: Map<string, boolean>;
  /** As they were listed last. */
  tools: ReadonlyMap<string, Tool>;
}

/** A yes for this session, and whether content from outside was there when it was given. */
interface Grant {
  untrusted: boolean;
}

export class Consent {
  readonly #options: ConsentOptions;
  readonly #verdict: ReturnType<typeof readRules>;
  readonly #servers = new Map<string, Known>();
  /** By the hashes of their servers' tools: a tool that changes loses it. */
  readonly #granted = new Map<string, Map<string, Grant>>();
  /** Tools that somebody was to be asked about, as they were then. */
  readonly #asked = new Map<string, Tool>();
  /** Of servers that need not be approved, for this session. */
  readonly #session = memoryTrust();

  /** @throws HostError `configuration` for a rule that is none */
  constructor(options: ConsentOptions) {
    this.#options = options;
    this.#verdict = readRules(options.rules);
  }

  /**
   * Whether a server may be used: call it before it is started or reached.
   *
   * @param approved somebody was asked already
   */
  async admit(identity: ServerIdentity, signal: AbortSignal, approved = false): Promise<boolean> {
    const { name, origin } = identity;
    const store = origin === "typed" ? this.#session : this.#options.trust;
    const key = trustKey(identity);
    const before = await store.get(key);
    const known: Known = {
      identity,
      key,
      store,
      trusted: before ?? { identity },
      changes: new Map(),
      tools: new Map(),
    };
    const last = this.#servers.get(name)?.identity;
    if (last !== undefined && identityDiff(last, identity) !== "") this.#granted.delete(name);
    const diff = before === undefined ? "" : identityDiff(before.identity, identity);
    if (origin !== "configured" || (before !== undefined && diff === "")) {
      this.#servers.set(name, known);
      return true;
    }
    const request: ServerApproval = {
      kind: "server",
      server: name,
      identity,
      ...(before === undefined ? {} : { before: before.identity }),
      diff,
      why:
        before === undefined
          ? "It is used for the first time."
          : "It is not what was approved: its configuration has changed.",
      choices: ["always", "session", "deny"],
    };
    const answer = approved ? "always" : await this.ask(request, signal);
    if (answer !== "always" && answer !== "session") return false;
    // Another program: what was said of its tools was said of others.
    const trusted = { identity };
    const admitted = { ...known, trusted, store: answer === "always" ? store : this.#session };
    this.#servers.set(name, admitted);
    if (answer === "always") await this.#keep(admitted, () => trusted);
    return true;
  }

  /** The tools of a server that may be offered: all but those that changed and were not approved. */
  async review(server: string, tools: readonly Tool[], signal: AbortSignal): Promise<Set<string>> {
    const known = await this.#known(server, signal);
    const names = new Set(tools.map((tool) => tool.name));
    const byName = new Map(tools.map((tool) => [tool.name, tool]));
    known.tools = byName;
    if (known.identity.origin === "builtin") return names;
    known.trusted = (await known.store.get(known.key)) ?? known.trusted;
    const pinned = known.trusted.tools;
    if (pinned === undefined) {
      await this.#pin(
        known,
        tools.map((tool) => [tool.name, pinOf(tool)]),
      );
      return names;
    }
    const changes = toolChanges(pinned, tools);
    const changed = changes.map((change) => ({ change, tool: byName.get(change.tool) as Tool }));
    const fresh = changed.filter(({ tool }) => !known.changes.has(hashOf(tool)));
    if (fresh.length > 0) {
      const answer = await this.ask(
        {
          kind: "tools",
          server,
          changes: fresh.map(({ change }) => change),
          why: "Its tools are not those that were approved.",
          choices: ["always", "session", "deny"],
        },
        signal,
      );
      const approved = answer === "always" || answer === "session";
      for (const { tool } of fresh) known.changes.set(hashOf(tool), approved);
      if (answer === "always")
        await this.#pin(
          known,
          fresh.map(({ tool }) => [tool.name, pinOf(tool)]),
        );
    }
    for (const { tool } of changed) if (known.changes.get(hashOf(tool)) !== true) names.delete(tool.name);
    return names;
  }

  /** What is to become of a call. Nobody is asked here. */
  decide({ id, server, tool, arguments: given, untrusted }: WantedCall): Decision {
    const known = this.#servers.get(server);
    const { annotations = {} } = tool;
    const verdict = this.#verdict({ server, tool: tool.name, arguments: given });
    if (verdict?.effect === "deny") return { denied: `the rule "${verdict.pattern}" denies it` };
    const kept = known === undefined ? undefined : keptAnswer(known.trusted, tool);
    if (kept?.answer === "never") return { denied: "the user never allows this tool" };
    if (verdict?.effect === "allow") return { run: true };
    const isOutside = untrusted !== undefined;
    const covers = (grant: Grant | undefined) => grant !== undefined && (!isOutside || grant.untrusted);
    if (covers(this.#grant(server, tool))) return { run: true };
    if (verdict === undefined) {
      if (kept?.answer === "always" && covers({ untrusted: kept.untrusted === true })) return { run: true };
      const sends = annotations.openWorldHint !== false;
      if (annotations.readOnlyHint === true && !(isOutside && sends)) return { run: true };
    }
    this.#asked.set(nameKey(server, tool.name), tool);
    const lasting = verdict === undefined && known !== undefined && known.store !== this.#session;
    return {
      ask: {
        kind: "tool",
        id,
        server,
        tool: tool.name,
        ...(tool.title === undefined ? {} : { title: tool.title }),
        ...(tool.description === undefined ? {} : { description: tool.description }),
        arguments: given,
        annotations,
        untrusted: isOutside,
        why: whyAsked(verdict?.pattern, untrusted, tool),
        choices: lasting ? ["once", "session", "always", "deny", "never"] : ["once", "session", "deny"],
      },
    };
  }

  /** Asks a person, or nobody: then it is denied. What the answer means for later is kept. */
  async ask(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer> {
    const { onApproval, inTurn, onEvent } = this.#options;
    if (onApproval === undefined) {
      onEvent({ type: "approval", request, answer: "deny", by: "nobody" });
      return "deny";
    }
    const given = await inTurn(signal, async (): Promise<ApprovalAnswer> => {
      // Somebody may have said it of another call meanwhile.
      const about = request.kind === "tool" ? this.#askedAbout(request) : undefined;
      const granted = about && this.#grant(request.server, about);
      if (granted !== undefined && request.kind === "tool" && (granted.untrusted || !request.untrusted))
        return "session";
      const answer = await onApproval(request, { signal });
      const valid = request.choices.includes(answer) ? answer : "deny";
      onEvent({ type: "approval", request, answer: valid, by: "person" });
      if (request.kind === "tool") await this.#settle(request, valid);
      return valid;
    });
    return given;
  }

  /** A server that was connected without being asked about: whoever did that has approved it, for this session. */
  async #known(server: string, signal: AbortSignal): Promise<Known> {
    if (!this.#servers.has(server)) await this.admit({ name: server, origin: "typed" }, signal);
    return this.#servers.get(server) as Known;
  }

  async #settle(request: ToolApproval, answer: ApprovalAnswer): Promise<void> {
    const { server, tool, untrusted } = request;
    const about = this.#askedAbout(request);
    if (about === undefined) return;
    if (answer === "session" || answer === "always") {
      const grants = this.#granted.get(server) ?? new Map<string, Grant>();
      this.#granted.set(server, grants.set(hashOf(about), { untrusted }));
    }
    if (answer !== "always" && answer !== "never") return;
    const known = this.#servers.get(server);
    if (known === undefined) return;
    await this.#pin(known, [[tool, { ...pinOf(about), answer, untrusted }]]);
  }

  #pin(known: Known, pins: [tool: string, pin: PinnedTool][]): Promise<void> {
    return this.#keep(known, (before) => ({
      identity: known.identity,
      tools: { ...before?.tools, ...Object.fromEntries(pins) },
    }));
  }

  #grant(server: string, tool: Tool): Grant | undefined {
    return this.#granted.get(server)?.get(hashOf(tool));
  }

  /** The tool that a request is about; one of an earlier program is about the tool as it is now. */
  #askedAbout({ server, tool }: ToolApproval): Tool | undefined {
    return this.#asked.get(nameKey(server, tool)) ?? this.#servers.get(server)?.tools.get(tool);
  }

  async #keep(known: Known, now: (before: TrustedServer | undefined) => TrustedServer): Promise<void> {
    const { key } = known;
    const change = (before: TrustedServer | undefined): TrustedServer => {
      known.trusted = now(before);
      return known.trusted;
    };
    try {
      await known.store.update(key, change);
    } catch (error) {
      if (!UNWRITABLE.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
      // Where nothing can be written, it holds for this session, and is asked again in the next.
      known.store = this.#session;
      await known.store.update(key, () => change(known.trusted));
    }
  }
}

/** What systems say of a folder that cannot be written to. */
const UNWRITABLE = new Set(["EACCES", "EPERM", "EROFS", "ENOTDIR", "EEXIST", "ENOSPC", "EDQUOT"]);

/** What was said of a tool for all time, if it is still the tool that it was said of. */
function keptAnswer({ tools }: TrustedServer, tool: Tool): PinnedTool | undefined {
  const pin = tools !== undefined && Object.hasOwn(tools, tool.name) ? tools[tool.name] : undefined;
  return pin?.answer !== undefined && pin.hash === hashOf(tool) ? pin : undefined;
}

function nameKey(server: string, tool: string): string {
  return JSON.stringify([server, tool]);
}

function whyAsked(pattern: string | undefined, untrusted: string | undefined, tool: Tool): string {
  const { readOnlyHint, destructiveHint, openWorldHint } = tool.annotations ?? {};
  if (pattern !== undefined) return `The rule "${pattern}" says to ask.`;
  if (untrusted !== undefined) {
    const does = readOnlyHint === true ? "may send something" : "may change or send something";
    return `It ${does}, and content from outside (${untrusted}) is in the conversation: whoever wrote that may be behind this call.`;
  }
  if (destructiveHint !== false) return "It may delete or overwrite something.";
  return openWorldHint === false ? "It may change something." : "It may change or send something.";
}

/** `doctor <target>`: walks the way to a server behind a URL, names the step that fails, and says how to mend it. */

import { connect } from "@patchbay/client";
import type { Authorized } from "@patchbay/client/oauth";
import type { AgentOptions } from "../agent.ts";
import { open } from "../connection.ts";
import type { Context } from "../context.ts";
import { openStore, type Site, takesLogin } from "../credentials.ts";
import { ExitCode, toFailure } from "../failure.ts";
import type { Output } from "../output.ts";
import { shownUrl } from "../secrets.ts";
import { findTarget } from "../targets.ts";
import { visibleLine, visibleName } from "../visible.ts";
import { doctor } from "./doctor.ts";

export interface DoctorTargetOptions extends AgentOptions {
  clientId?: string;
  issuer?: string;
  clientMetadataUrl?: string;
  privateHost?: string[];
}

const STEPS = ["reach", "discovery", "registration", "login", "call"] as const;

/** What became of one step. */
interface Taken {
  step: (typeof STEPS)[number];
  /** `skipped` where a step before failed, or it is not needed. */
  state: "ok" | "failed" | "skipped";
  /** What was found, or what is wrong. */
  found: string;
  /** What to do about it. */
  remedy?: string;
}

type Outcome = Omit<Taken, "step">;

/** A step that failed. */
class Unwell extends Error {
  readonly remedy: string | undefined;
  constructor(found: string, remedy?: string) {
    super(found);
    this.remedy = remedy;
  }
}

const ok = (found: string): Outcome => ({ state: "ok", found });
const NOT_NEEDED: Outcome = { state: "skipped", found: "not needed: the server asks for no token" };

/** Registers nowhere, logs nobody in, and calls no tool. */
export async function doctorTarget(
  name: string,
  options: DoctorTargetOptions,
  context: Context,
): Promise<number> {
  const { output, signal } = context;
  const target = await findTarget(name, options, context);
  // There is no such way to one that is started here, or that is told already who asks.
  if (!takesLogin(target)) return doctor({ ...options, server: [name] }, context);
  const site = { name: target.name, url: target.to.url };
  const walk = new Walk(site, options, context);
  const taken: Taken[] = [];
  for (const step of STEPS) {
    const failed = taken.some(({ state }) => state === "failed");
    const outcome: Outcome = failed
      ? { state: "skipped", found: "not tried" }
      : await walk[step]().catch((thrown): Outcome => {
          signal.throwIfAborted();
          const remedy = thrown instanceof Unwell ? thrown.remedy : undefined;
          return {
            state: "failed",
            found: toFailure(thrown).message,
            ...(remedy !== undefined && { remedy }),
          };
        });
    taken.push({ step, ...outcome });
  }
  const failed = taken.find(({ state }) => state === "failed");
  const report = output.without({ ok: failed === undefined, server: shownUrl(site.url), steps: taken });
  if (output.json) output.value(report);
  else show(report.steps, output);
  if (failed === undefined) return ExitCode.ok;
  return failed.step === "reach" ? ExitCode.connection : ExitCode.failed;
}

/** One walk: each step knows what those before have found. */
class Walk implements Record<Taken["step"], () => Promise<Outcome>> {
  readonly #site: Site;
  readonly #options: DoctorTargetOptions;
  readonly #context: Context;
  #wantsToken = true;
  #authorized: Authorized | undefined;

  constructor(site: Site, options: DoctorTargetOptions, context: Context) {
    this.#site = site;
    this.#options = options;
    this.#context = context;
  }

  get #name(): string {
    return visibleName(this.#site.name);
  }

  /** Whether something answers, and whether it asks who asks. */
  async reach(): Promise<Outcome> {
    const { timeout } = this.#options;
    try {
      const client = await connect(this.#site.url, {
        signal: this.#context.signal,
        connectTimeout: timeout,
        timeout,
      });
      const { revision } = client;
      await client.close();
      this.#wantsToken = false;
      return ok(`it speaks MCP (${revision}), and asks for no token`);
    } catch (thrown) {
      const { reason, status, message } = thrown as Error & { reason?: string; status?: number };
      if (status === 401 || reason === "unauthorized") return ok("it answers, and asks for a token");
      throw new Unwell(message, remedyOfReach(reason, status));
    }
  }

  /** Who authorizes for it. */
  async discovery(): Promise<Outcome> {
    if (!this.#wantsToken) return NOT_NEEDED;
    const { discoverAuthorization } = await import("@patchbay/client/oauth");
    const { privateHost = [], clientId, clientMetadataUrl, issuer } = this.#options;
    try {
      this.#authorized = await discoverAuthorization(this.#site.url, {
        store: await openStore(),
        privateHosts: privateHost,
        signal: this.#context.signal,
        ...(clientId !== undefined && { clientId }),
        ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
        ...(issuer !== undefined && { issuer }),
      });
    } catch (thrown) {
      const { message } = thrown as Error;
      throw new Unwell(message, remedyOfDiscovery(message));
    }
    const { issuer: found, resource, scopes, bound, assumed } = this.#authorized;
    if (assumed) return ok(`nothing says who gives tokens for ${resource}; a login would try ${found}`);
    const needs = scopes === undefined ? "" : `; scopes: ${scopes.join(" ")}`;
    return ok(`${found} gives ${bound ? "bound tokens (DPoP)" : "tokens"} for ${resource}${needs}`);
  }

  /** Whether we could get a client id. */
  async registration(): Promise<Outcome> {
    const { registration, issuer, assumed } = this.#authorized ?? {};
    if (assumed && registration === "dynamic")
      return { state: "skipped", found: `nobody knows whether ${issuer} registers clients` };
    switch (registration) {
      case undefined:
        return NOT_NEEDED;
      case "client_id":
        return ok(`the client id ${this.#options.clientId} is used as it is`);
      case "document":
        return ok(`${this.#options.clientMetadataUrl} says who we are`);
      case "kept":
        return ok(`we are registered at ${issuer} already`);
      case "dynamic":
        return ok(`a login registers us at ${issuer}; nothing was registered now`);
      case "none":
        throw new Unwell(
          `${issuer} lets nobody register by themselves`,
          `register a client there, and name it: patchbay login ${this.#name} --client-id <id> --issuer ${issuer}`,
        );
    }
  }

  /** Whether somebody is logged in, or could be. */
  async login(): Promise<Outcome> {
    if (this.#authorized === undefined) return NOT_NEEDED;
    const { issuer, doesPkce, assumed } = this.#authorized;
    if (!doesPkce)
      throw new Unwell(
        `${issuer} does not say that it does PKCE with S256 (code_challenge_methods_supported): nobody logs in there`,
        "whoever runs it has to turn PKCE on, and say so in its metadata",
      );
    const { whoami } = await import("@patchbay/client/oauth");
    const account = await whoami(this.#site.url, await openStore());
    const again = `patchbay login ${this.#name}`;
    const orKey = `ask who runs it for a token or a key, for the Authorization header of its entry in mcp.json; or try ${again}`;
    if (account === undefined) throw new Unwell("nobody is logged in", assumed ? orKey : again);
    if (account.issuer !== issuer)
      throw new Unwell(
        `the login that is kept is one at ${account.issuer}, and ${issuer} authorizes now`,
        again,
      );
    const ended = account.expiresAt !== undefined && account.expiresAt.getTime() <= Date.now();
    if (ended && !account.refreshes)
      throw new Unwell(
        `the login ended at ${account.expiresAt?.toISOString()}, and cannot be refreshed`,
        again,
      );
    const who = account.user === undefined ? "somebody" : account.user;
    const scopes = account.scopes.length === 0 ? "" : `, for ${account.scopes.join(" ")}`;
    return ok(`${who} is logged in${scopes}${ended ? "; the token is refreshed when it is used" : ""}`);
  }

  /** Whether the server does what it is asked first. */
  async call(): Promise<Outcome> {
    const { name, url } = this.#site;
    try {
      const { client, request } = await open({ name, to: { url } }, this.#options, this.#context);
      try {
        const tools = client.capabilities.tools === undefined ? [] : await client.listTools(request);
        return ok(`it speaks MCP (${client.revision}), and lists ${tools.length} tools`);
      } finally {
        await client.close();
      }
    } catch (thrown) {
      const { message } = toFailure(thrown);
      const [what = message, how] = message.split(/\. Log in with: /);
      throw new Unwell(what, how ?? "with -v the server's own messages are shown");
    }
  }
}

function remedyOfReach(reason: string | undefined, status: number | undefined): string {
  if (status === 404 || reason === "not-mcp")
    return "check the path: an MCP endpoint mostly is at /mcp, and at /sse where it is an old one";
  if (status === 403) return "whoever runs the server has to allow this host name (allowedHosts)";
  if (status !== undefined && status >= 500) return "try again later, and tell whoever runs the server";
  if (reason === "silent") return "try a longer --timeout, in milliseconds";
  if (reason === "unreachable") return "check the host and the port, and that the server runs";
  return "tell whoever runs the server";
}

function remedyOfDiscovery(message: string): string {
  if (message.includes("privateHosts"))
    return "if that host is meant: --private-host <name>, here and for login";
  if (message.includes("no metadata"))
    return "whoever runs the authorization server has to publish it at /.well-known/oauth-authorization-server";
  if (message.includes("another resource"))
    return "whoever runs the server has to name it in its metadata (resource) by the URL that clients use";
  if (message.includes("could not be reached") || message.includes("did not answer"))
    return "check that the authorization server runs, and that this machine may reach it";
  if (message.includes("the client id is one of")) return "give the --issuer that the server names";
  return "whoever runs the server has to mend its metadata (/.well-known/oauth-protected-resource)";
}

const WIDTH = Math.max(...STEPS.map((step) => step.length));

function show(steps: readonly Taken[], output: Output): void {
  const { green, red, dim } = output.colors;
  const marks = { ok: green("✓"), failed: red("✗"), skipped: dim("–") };
  for (const { step, state, found, remedy } of steps) {
    output.styled(`${marks[state]} ${step.padEnd(WIDTH)}  ${visibleLine(found)}`);
    if (remedy !== undefined) output.styled(`  ${" ".repeat(WIDTH)}  ${dim("→")} ${visibleLine(remedy)}`);
  }
}

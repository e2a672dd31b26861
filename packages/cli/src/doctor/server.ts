/** `doctor` looks at one server: each step as a client would do it, up to the first that fails. */

import type { Client } from "@patchbay/client";
import { createHost, type Model } from "@patchbay/host";
import { open } from "../connection.ts";
import type { Context, ServerOptions } from "../context.ts";
import { toFailure } from "../failure.ts";
import { shownUrl } from "../secrets.ts";
import type { Choice } from "../targets.ts";
import { visibleName } from "../visible.ts";
import type { ServerFinding, StepName } from "./finding.ts";

/** What a step is given. */
interface Visit {
  client: Client;
  model: Model | undefined;
  signal: AbortSignal;
}

/** A step tells what it found; one that throws has failed. */
type Step = (visit: Visit, finding: ServerFinding) => Promise<void>;

/** What is asked of a server that has been connected to, in this order. */
const STEPS: [StepName, Step][] = [
  [
    "tools",
    async ({ client, signal }, finding) => {
      finding.tools = (await client.listTools({ signal })).map((tool) => tool.name).sort();
    },
  ],
  [
    "resources",
    async ({ client, signal }, finding) => {
      const lists = [client.listResources({ signal }), client.listResourceTemplates({ signal })];
      finding.resources = (await Promise.all(lists)).flat().length;
    },
  ],
  [
    "prompts",
    async ({ client, signal }, finding) => {
      finding.prompts = (await client.listPrompts({ signal })).length;
    },
  ],
  [
    "schemas",
    async ({ client, model, signal }, finding) => {
      if (model === undefined) return;
      const { setAside, tools } = await createHost({ clients: { [finding.name]: client }, model }).catalog({
        signal,
      });
      for (const { tool, reason } of setAside)
        finding.warnings.push(`${visibleName(tool)} cannot be offered to ${model.label}: ${reason}`);
      const inexact = tools.filter(({ lost }) => lost.length > 0).length;
      if (inexact > 0) {
        const what = inexact === 1 ? "1 schema is" : `${inexact} schemas are`;
        const lint = `patchbay lint ${visibleName(finding.name)} --provider ${model.provider}`;
        finding.warnings.push(
          `${what} told to ${model.label} less exactly than written; ${lint} shows what is lost`,
        );
      }
    },
  ],
];

/**
 * Connects, and asks for all lists; closes, whatever comes.
 *
 * @param about what is known of it already: its name, and where it is written
 */
export async function lookAtServer(
  choice: Choice,
  about: Pick<ServerFinding, "from" | "variables">,
  model: Promise<Model | undefined>,
  options: ServerOptions,
  context: Context,
): Promise<ServerFinding> {
  const name = /^https?:\/\//i.test(choice.name) ? shownUrl(choice.name) : choice.name;
  const finding: ServerFinding = { ok: true, name, ...about, steps: [], warnings: [] };
  let step: StepName = "configuration";
  let client: Client | undefined;
  try {
    const target = await choice.find();
    finding.steps.push(step);
    step = "url" in target.to ? "connection" : "start";
    ({ client } = await open(target, options, context));
    finding.steps.push(step, "handshake");
    const { server, revision, era } = client;
    if (server !== undefined) finding.server = `${server.name} ${server.version}`;
    Object.assign(finding, { revision, era });
    const visit: Visit = { client, model: await model, signal: context.signal };
    for (const [name, work] of STEPS) {
      step = name;
      await work(visit, finding);
      finding.steps.push(step);
    }
    return finding;
  } catch (thrown) {
    const failed = stepOf(thrown, step);
    const remedy = REMEDIES[failed];
    const { message } = toFailure(thrown);
    // The name stands before it already.
    const prefix = `${visibleName(name)}: `;
    return {
      ...finding,
      ok: false,
      failed,
      problem: message.startsWith(prefix) ? message.slice(prefix.length) : message,
      ...(remedy !== undefined && { remedy }),
    };
  } finally {
    await client?.close();
  }
}

/** What connecting came to: the reason of the client's error says which part of it failed. */
function stepOf(thrown: unknown, step: StepName): StepName {
  if (step !== "start" && step !== "connection") return step;
  const { cause } = thrown as { cause?: { reason?: string } };
  switch (cause?.reason) {
    case "unauthorized":
      return "authorization";
    case "silent":
    case "refused":
    case "not-mcp":
    case "incompatible":
    case "too-large":
      return "handshake";
    default:
      return step;
  }
}

const REMEDIES: Partial<Record<StepName, string>> = {
  start: "Run its command by hand, in its folder and with its variables: it must start, and wait for input.",
  connection: "Look whether the server runs, and whether its URL, its port and your proxy are right.",
  handshake: "Look whether it is an MCP server, and over this transport; -v shows what it writes to stderr.",
  tools: "The server answers, and not this: look at its log; -v shows what it writes to stderr.",
  resources: "The server says that it has resources, and fails to list them: look at its log.",
  prompts: "The server says that it has prompts, and fails to list them: look at its log.",
};

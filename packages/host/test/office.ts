/** A host with a model of a script and a server in a process of its own, and what that server did. */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { connect } from "@patchbay/client";
import {
  type ApprovalAnswer,
  type ApprovalRequest,
  type ConversationStore,
  chooseModel,
  createHost,
  type Host,
  type HostEvent,
  type HostOptions,
} from "@patchbay/host";
import { afterAll, afterEach } from "vitest";
import { type ProviderWire, type Reply, serveProvider } from "./provider-wire.ts";

const FIXTURE = resolve(dirname(fileURLToPath(import.meta.url)), "fixtures/office.mjs");

export interface Office {
  host: Host;
  wire: ProviderWire;
  events: HostEvent[];
  asked: ApprovalRequest[];
  onEvent: (event: HostEvent) => void;
}

export interface OfficeOptions extends Partial<Omit<HostOptions, "onApproval">> {
  /** What a person says, one answer after another, the last one for ever; nobody is there without it. */
  answers?: ApprovalAnswer[];
  onApproval?: HostOptions["onApproval"];
  /** Further words for the server. */
  words?: string[];
  provider?: "openai" | "anthropic";
}

const open: { close(): Promise<unknown> }[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "patchbay-office-"));
  folders.push(folder);
  return folder;
}

/** Opens an office in a folder; a second one in the same folder does its work in the same file. */
export async function openOffice(
  folder: string,
  script: Reply[],
  options: OfficeOptions = {},
): Promise<Office> {
  const { answers, words = [], provider = "openai", ...own } = options;
  const wire = await serveProvider(provider, script);
  open.push(wire);
  const key = provider === "openai" ? "OPENAI_API_KEY" : "ANTHROPIC_API_KEY";
  const env = { MODEL_PROVIDER: provider, [key]: "sk-1", BASE_URL: wire.baseUrl, MODEL_MAX_RETRIES: "0" };
  const asked: ApprovalRequest[] = [];
  const said = [...(answers ?? [])];
  const onApproval: HostOptions["onApproval"] = (request) => {
    asked.push(request);
    return (said.length > 1 ? said.shift() : said[0]) ?? "deny";
  };
  const host = createHost({
    model: await chooseModel(env),
    ...(answers === undefined ? {} : { onApproval }),
    ...own,
  });
  open.push(host);
  await host.admit(
    { name: "office", file: join(folder, "mcp.json"), origin: "configured" },
    { approved: true },
  );
  const command = { command: process.execPath, args: [FIXTURE, join(folder, "did"), ...words] };
  host.add("office", await connect(command, host.connectOptions("office")));
  const events: HostEvent[] = [];
  return { host, wire, events, asked, onEvent: (event) => events.push(event) };
}

/** What the servers of a folder did, in order. */
export function didIn(folder: string): string[] {
  try {
    return readFileSync(join(folder, "did"), "utf8").trimEnd().split("\n");
  } catch {
    return [];
  }
}

/** What the model was told of its calls, by their ids. */
export function toldIn(wire: ProviderWire, request: number): Record<string, string> {
  const { messages } = wire.requests[request]?.body ?? { messages: [] };
  return Object.fromEntries(
    messages
      .filter((message: { role: string }) => message.role === "tool")
      .map((message: { tool_call_id: string; content: string }) => [message.tool_call_id, message.content]),
  );
}

/** A store that can be looked at as it is at a moment: what a program that is killed then leaves behind. */
export function memoryStore(
  texts = new Map<string, string>(),
): ConversationStore & { left(): Map<string, string> } {
  return {
    load: async (id) => texts.get(id),
    save: async (id, text) => void texts.set(id, text),
    remove: async (id) => void texts.delete(id),
    list: async () => [...texts.keys()].map((id) => ({ id, savedAt: 0 })),
    left: () => new Map(texts),
  };
}

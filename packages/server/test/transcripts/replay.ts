/**
 * Reads a transcript, says again what came in, and writes down what goes out.
 *
 * Lines with `>` come in, lines with `<` go out; `#` begins a section. Over HTTP each line says which exchange it is
 * part of, and what goes out at the same time is sorted by that. `1> (gone)` is a client that goes away, `1< (end)` a
 * stream that ends. Requests have the usual Content-Type and Accept unless they say others.
 */

import type { Channel } from "@patchbay/core";
import { HEADERS } from "../streamable.ts";
import { readEvents } from "../wire.ts";

/** What came in together, and what went out then. */
interface Group {
  incoming: string[];
  outgoing: string[];
}

export interface Section {
  title: string;
  groups: Group[];
}

export function readTranscript(text: string): Section[] {
  const sections: Section[] = [];
  let group: Group | undefined;
  for (const line of text.split("\n")) {
    if (line === "") continue;
    if (line.startsWith("# ")) {
      sections.push({ title: line.slice(2), groups: [] });
      group = undefined;
    } else if (/^\d*> /.test(line)) {
      if (group === undefined || group.outgoing.length > 0) {
        group = { incoming: [], outgoing: [] };
        sections.at(-1)?.groups.push(group);
      }
      group.incoming.push(line);
    } else if (/^\d*< /.test(line) && group !== undefined) group.outgoing.push(line);
    else throw new Error(`This is no line of a transcript: ${line}`);
  }
  return sections;
}

export function writeTranscript(sections: readonly Section[]): string {
  return sections
    .map(({ title, groups }) => {
      const lines = groups.flatMap(({ incoming, outgoing }) => [...incoming, ...outgoing]);
      return `${[`# ${title}`, ...lines].join("\n")}\n`;
    })
    .join("\n");
}

/** Says what comes in. */
export type Say = (lines: string[]) => void;

/** @param open begins to hear what goes out, line by line */
export async function replay(
  sections: readonly Section[],
  open: (hear: (line: string) => void) => Say,
  updating: boolean,
): Promise<Section[]> {
  const masks = new Masks();
  let heard: string[] = [];
  let wake = () => {};
  const say = open((line) => {
    heard.push(line);
    wake();
  });
  const turn = () => new Promise(setImmediate);
  /** Until there is as much as there was, or for long nothing. Only a new transcript is as long as it turns out. */
  const hush = async (expected: number) => {
    for (;;) {
      if (!updating && heard.length >= expected) return;
      const before = heard.length;
      await new Promise<void>((resolve) => {
        const late = setTimeout(resolve, updating ? 100 : 5000);
        wake = () => {
          clearTimeout(late);
          resolve();
        };
      });
      if (heard.length === before) return;
    }
  };

  const played: Section[] = [];
  for (const { title, groups } of sections) {
    const again: Group[] = [];
    for (const { incoming, outgoing } of groups) {
      say(incoming.map((line) => masks.lift(line)));
      await hush(outgoing.length);
      // What is said too much comes soon, and is found in the next group at the latest.
      await turn();
      const lines = heard.map((line) => masks.put(line));
      heard = [];
      again.push({
        incoming,
        outgoing: lines.sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10) || 0),
      });
    }
    played.push({ title, groups: again });
  }
  return played;
}

const SECRET = [
  ["state", /"requestState":"([^"]{20,})"/],
  ["session", /(?:Mcp-Session-Id: |sessionId=)([0-9a-f-]{36})/],
  ["stream", /(?:^\d+< id: |"id":")([0-9a-f]{8})-\d/],
  ["elicitation", /"elicitationId":"([0-9a-f-]{36})"/],
] as const;

/** Names for what is different each time. */
class Masks {
  readonly #names = new Map<string, string>();

  put(line: string): string {
    for (const [what, pattern] of SECRET) {
      const value = pattern.exec(line)?.[1];
      if (value === undefined || this.#names.has(value)) continue;
      const count = [...this.#names.values()].filter((name) => name.startsWith(`<${what} `)).length;
      this.#names.set(value, `<${what} ${count + 1}>`);
    }
    let masked = line;
    for (const [value, name] of this.#names) masked = masked.replaceAll(value, name);
    return masked;
  }

  lift(line: string): string {
    let lifted = line;
    for (const [value, name] of this.#names) lifted = lifted.replaceAll(name, value);
    return lifted;
  }
}

export function overChannel(channel: Channel): (hear: (line: string) => void) => Say {
  return (hear) => {
    channel.listen(
      (text) => hear(`< ${text}`),
      () => {},
    );
    return (lines) => {
      for (const line of lines) channel.send(line.slice(2));
    };
  };
}

/** The headers of a response that matter. */
const SHOWN = ["Mcp-Session-Id", "Allow", "Retry-After"];

export function overHttp(origin: URL): (hear: (line: string) => void) => Say {
  return (hear) => {
    const leave = new Map<string, AbortController>();
    const exchange = async (number: string, lines: string[]) => {
      const say = (line: string) => hear(`${number}< ${line}`);
      const [method, path] = (lines[0] as string).split(" ") as [string, string];
      const rest = lines.slice(1);
      const isHeader = (line: string) => /^[A-Za-z][\w-]*: /.test(line);
      const given = rest.filter(isHeader).map((line) => line.split(/: (.*)/, 2) as [string, string]);
      const headers = Object.fromEntries(given.map(([name, value]) => [name.toLowerCase(), value]));
      const body = rest.filter((line) => !isHeader(line)).join("\n");
      const abort = new AbortController();
      leave.set(number, abort);
      const response = await fetch(new URL(path, origin), {
        method,
        signal: abort.signal,
        headers: { ...HEADERS, ...headers },
        ...(body !== "" && { body }),
      });
      const type = response.headers.get("content-type");
      say(`${response.status} ${type ?? ""}`.trimEnd());
      for (const name of SHOWN) {
        const value = response.headers.get(name);
        if (value !== null) say(`${name}: ${value}`);
      }
      if (type !== "text/event-stream") {
        for (const line of (await response.text()).split("\n")) if (line !== "") say(line);
        return;
      }
      for await (const { event, id, retry, data } of readEvents(response)) {
        if (retry !== undefined) say(`retry: ${retry}`);
        if (event !== undefined) say(`event: ${event}`);
        if (id !== undefined) say(`id: ${id}`);
        say(`data: ${data}`.trimEnd());
      }
      say("(end)");
    };
    return (lines) => {
      const numbers = new Set(lines.map((line) => line.slice(0, line.indexOf(">"))));
      for (const number of numbers) {
        const own = lines
          .filter((line) => line.startsWith(`${number}> `))
          .map((line) => line.slice(number.length + 2));
        if (own[0] === "(gone)") leave.get(number)?.abort();
        else
          exchange(number, own).catch(() => leave.get(number)?.signal.aborted || hear(`${number}< (failed)`));
      }
    };
  };
}

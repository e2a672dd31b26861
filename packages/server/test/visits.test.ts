/** Pages that a request's user has to visit first: −32042 in 2025-11-25, input_required since, and its end told to who asked. */

import { META, REVISIONS } from "@patchbay/core";
import { describe, expect, test } from "vitest";
import { McpServer, UrlElicitationRequiredError } from "../src/index.ts";
import { INITIALIZE, type Json, MODERN_META, memory, WIRES, type Wire } from "./wire.ts";

const info = { name: "asks", version: "1" };

/** A server whose work needs a visit that has not been made yet. */
function guarded() {
  const visited = new Set<string>();
  const ids: string[] = [];
  const server = new McpServer(info, { onError: () => {} });
  server.tool("open", {}, async (_args, ctx) => {
    const elicitationId = await ctx.elicitationId();
    ids.push(elicitationId);
    if (visited.size > 0) return `opened after ${[...visited].includes(elicitationId)}`;
    const url = new URL(`https://example.com/in?visit=${elicitationId}`);
    throw new UrlElicitationRequiredError([{ message: "Sign in", url, elicitationId }]);
  });
  server.tool("asks", {}, async (_args, ctx) => {
    const elicitationId = await ctx.elicitationId();
    ids.push(elicitationId);
    const url = new URL(`https://example.com/in?visit=${elicitationId}`);
    return (await ctx.elicit("Sign in", url, { elicitationId })).action;
  });
  server.method("acme/open", () => {
    throw new UrlElicitationRequiredError([{ message: "Sign in", url: new URL("https://example.com/in") }]);
  });
  server.method("acme/ask", async (_params, ctx) => {
    await ctx.elicit("Sign in", new URL("https://example.com/in"));
    return { asked: true };
  });
  server.prompt("open", {}, () => {
    throw new UrlElicitationRequiredError([{ message: "Sign in", url: new URL("https://example.com/in") }]);
  });
  return { server, visited, ids };
}

describe.each(WIRES)("%s", (_name, open) => {
  test("a request that needs a visit says so in its revision's words", async () => {
    const { server, visited, ids } = guarded();
    const wire = await open(server);
    const response = await wire.request("tools/call", { name: "open" });
    const [id] = ids;
    if (wire.revision === "2025-11-25") {
      const url = `https://example.com/in?visit=${id}`;
      expect(response.error).toEqual({
        code: -32042,
        message: "Sign in",
        data: { elicitations: [{ mode: "url", elicitationId: id, url, message: "Sign in" }] },
      });
    } else if (wire.era === "modern") {
      const { inputRequests, requestState, resultType } = response.result;
      expect(resultType).toBe("input_required");
      const params = { mode: "url", message: "Sign in", url: `https://example.com/in?visit=${id}` };
      expect(inputRequests).toEqual({ "visit-1": { method: "elicitation/create", params } });
      const again = (action: string) =>
        wire.request("tools/call", { name: "open", requestState, inputResponses: { "visit-1": { action } } });
      // Not there yet: it is asked for again, by the same id.
      const second = await again("accept");
      expect(second.result.inputRequests["visit-1"].params.url).toContain(id);
      const declined = await again("decline");
      expect(declined.result).toMatchObject({
        isError: true,
        content: [{ text: expect.stringMatching(/did not visit/) }],
      });
      visited.add(id as string);
      expect((await again("accept")).result.content[0].text).toBe("opened after true");
    } else {
      expect(response.error).toMatchObject({
        code: -32600,
        message: "Missing client capability: elicitation/create",
      });
    }
    await wire.close();
  });

  test("prompts may need one too, and what may not ask says so", async () => {
    const { server } = guarded();
    const wire = await open(server);
    const prompt = await wire.request("prompts/get", { name: "open" });
    const own = await wire.request("acme/open");
    const asking = await wire.converse("acme/ask");
    if (wire.era === "modern") {
      expect(prompt.result.resultType).toBe("input_required");
      const declined = {
        requestState: prompt.result.requestState,
        inputResponses: { "visit-1": { action: "cancel" } },
      };
      expect((await wire.request("prompts/get", { name: "open", ...declined })).error.code).toBe(-32600);
      expect(own.error.code).toBe(-32603);
      expect(asking.error.code).toBe(-32603);
    } else {
      const code = wire.revision === "2025-11-25" ? -32042 : -32600;
      expect(prompt.error.code).toBe(code);
      expect(own.error.code).toBe(code);
    }
    await wire.close();
  });

  test("who asked is told of its end, and nobody else", async () => {
    const { server, ids } = guarded();
    const [asked, other] = [await open(server), await open(server)];
    await Promise.all([asked.listen(), other.listen()]);
    asked.onAsked = () => ({ action: "accept" });
    await asked.converse("tools/call", { name: "asks" });
    server.elicitationComplete(ids[0] as string);
    server.elicitationComplete("nobody's");
    // What comes after it has come.
    server.tool("later", {}, () => "");
    const told = (wire: Wire) =>
      wire.notifications.filter(({ method }) => method === "notifications/elicitation/complete");
    if (asked.era === "legacy") {
      for (const wire of [asked, other])
        await wire.notification(({ method }) => method === "notifications/tools/list_changed");
    }
    const complete = {
      jsonrpc: "2.0",
      method: "notifications/elicitation/complete",
      params: { elicitationId: ids[0] },
    };
    expect(told(asked)).toEqual(asked.revision === "2025-11-25" ? [complete] : []);
    expect(told(other)).toEqual([]);
    await Promise.all([asked.close(), other.close()]);
  });

  test("the id of a visit stays when the handler is run again, and is what the client is given", async () => {
    const { server, ids } = guarded();
    const wire = await open(server);
    const given: Json[] = [];
    wire.onAsked = ({ params }) => {
      given.push(params);
      return { action: "accept" };
    };
    const response = await wire.converse("tools/call", { name: "asks" });
    if (wire.revision >= "2025-11-25") {
      expect(response.result.content[0].text).toBe("accept");
      expect(new Set(ids).size).toBe(1);
      expect(given[0]?.url).toContain(ids[0]);
      expect(given[0]?.elicitationId).toBe(wire.era === "legacy" ? ids[0] : undefined);
    } else {
      expect(response.error.code).toBe(-32600);
    }
    await wire.close();
  });
});

test.each(REVISIONS)("a client of %s that takes forms only is not sent to a page", async (revision) => {
  const modern = revision === "2026-07-28";
  const client = memory(guarded().server);
  const capabilities = { elicitation: { form: {} } };
  const _meta = { ...MODERN_META, [META.clientCapabilities]: capabilities };
  const answer = new Promise<Json>((resolve) => {
    client.listen(
      (text) => {
        const message = JSON.parse(text) as Json;
        if (message.id === 2) resolve(message);
      },
      () => {},
    );
  });
  const send = (message: Json) => client.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
  const params = { ...INITIALIZE, protocolVersion: revision, capabilities };
  if (!modern) send({ id: 1, method: "initialize", params });
  send({ id: 2, method: "tools/call", params: { name: "open", ...(modern && { _meta }) } });
  expect((await answer).error).toMatchObject({
    code: modern ? -32021 : -32600,
    data: { requiredCapabilities: { elicitation: { url: {} } } },
  });
  await client.close();
});

test("answers that are none are refused, even where a visit is needed", async () => {
  const { server } = guarded();
  const [, open] = WIRES.find(([name]) => name === "memory, 2026-07-28") as (typeof WIRES)[number];
  server.tool("plain", {}, () => {
    throw new UrlElicitationRequiredError([{ message: "Sign in", url: new URL("https://example.com/in") }]);
  });
  const wire = await open(server);
  expect((await wire.request("tools/call", { name: "plain", inputResponses: 5 })).error.code).toBe(-32602);
  await wire.close();
});

test("an error that requires no visit is none", () => {
  expect(() => new UrlElicitationRequiredError([])).toThrow(/needs a page/);
});

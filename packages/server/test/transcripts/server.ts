/** The server that the transcripts are of: a little of everything, and the same each time. */

import { type JsonObject, ResourceNotFoundError } from "@patchbay/core";
import { McpServer } from "../../src/index.ts";

const NAME: JsonObject = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };

export function transcriptServer(): McpServer {
  let cancelled = 0;
  let onCancelled = () => {};
  const info = {
    name: "transcript",
    title: "Transcript",
    version: "1.0.0",
    websiteUrl: "https://example.com",
  };
  const server = new McpServer(info, {
    instructions: "Add before you ask.",
    onError: () => {},
    offers: ["prompts"],
  });
  server
    .tool(
      "add",
      {
        title: "Add",
        description: "Adds two numbers",
        input: {
          type: "object",
          properties: { a: { type: "number" }, b: { type: "number" } },
          required: ["a", "b"],
        } as JsonObject,
        output: { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] } as JsonObject,
        annotations: { readOnlyHint: true },
        icons: [{ src: "https://example.com/add.png", mimeType: "image/png" }],
      },
      (args) => {
        const { a, b } = args as { a: number; b: number };
        return { sum: a + b };
      },
    )
    .tool("content", { description: "Gives content of each kind" }, () => [
      { type: "text", text: "text", annotations: { audience: ["user"] } },
      { type: "image", data: "AA==", mimeType: "image/png" },
      { type: "audio", data: "AA==", mimeType: "audio/wav" },
      { type: "resource_link", uri: "test://a", name: "a", title: "A" },
      { type: "resource", resource: { uri: "test://a", text: "a" } },
    ])
    .tool("fails", {}, () => {
      throw new Error("No such city");
    })
    .tool("breaks", {}, () => {
      throw new TypeError("What only the operator may know");
    })
    .tool("works", {}, (_args, ctx) => {
      ctx.log("info", "begun", "works");
      ctx.progress(1, 2, "half");
      ctx.log("error", { bad: true });
      ctx.progress(2, 2);
      return "worked";
    })
    .tool("asks", {}, async (_args, ctx) =>
      JSON.stringify(await ctx.elicit("Who is it?", NAME, { key: "who" })),
    )
    .tool("hangs", {}, async (_args, ctx) => {
      const aborted = new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
      ctx.progress(1);
      await aborted;
      cancelled++;
      onCancelled();
      return "never seen";
    })
    .tool("cancelled", { description: "Waits until a call was cancelled" }, async () => {
      if (cancelled === 0) await new Promise<void>((resolve) => (onCancelled = resolve));
      return `${cancelled} cancelled`;
    })
    .tool("changes", {}, () => {
      server.resourceUpdated("test://a");
      server.removePrompt("passing");
      return "changed";
    })
    .resource("test://a", { name: "a", title: "A", mimeType: "text/plain" }, () => "the text of a")
    .resource("test://bytes", { name: "bytes", size: 3 }, () => Uint8Array.of(1, 2, 3))
    .resourceTemplate(
      "test://items/{id}",
      { name: "item", complete: { id: (value) => ["1", "2", "12"].filter((id) => id.startsWith(value)) } },
      (uri, { id }) => {
        if (id === "none") throw new ResourceNotFoundError(uri);
        return `item ${id}`;
      },
    )
    .prompt(
      "greet",
      {
        title: "Greet",
        arguments: [{ name: "name", title: "Name", required: true }],
        complete: { name: (value) => ["Ada", "Alan"].filter((name) => name.startsWith(value)) },
      },
      ({ name }) => `Greet ${name}.`,
    )
    .prompt("passing", {}, () => "Gone soon.");
  return server;
}

/** `read`: the contents of one resource. */

import type { ResourceContents } from "@patchbay/core";
import { withServer } from "../connection.ts";
import { describeContents } from "../content.ts";
import type { Context, ServerOptions } from "../context.ts";
import { failed, usage } from "../failure.ts";
import type { Output } from "../output.ts";
import { splitServer } from "../targets.ts";
import { visibleName } from "../visible.ts";

export async function read(words: string[], options: ServerOptions, context: Context): Promise<void> {
  const [server, [uri, ...rest]] = splitServer(words, context);
  if (rest.length > 0) throw usage(`"${rest[0]}" is one word too many: read takes one URI.`);
  await withServer(server, options, context, async ({ client, target, request }) => {
    if (uri === undefined)
      throw usage(`Which resource? "patchbay resources ${visibleName(target.name)}" lists them.`);
    if (client.capabilities.resources === undefined)
      throw failed(`${visibleName(target.name)} offers no resources.`);
    const result = await client.readResource(uri, request);
    if (context.output.json) context.output.value(result);
    else for (const contents of result.contents) show(contents, context.output);
  });
}

/** Bytes go out as they are, but never to a terminal. */
function show(contents: ResourceContents, output: Output): void {
  if ("text" in contents || process.stdout.isTTY) output.text(describeContents(contents));
  else output.bytes(Buffer.from(contents.blob, "base64"));
}

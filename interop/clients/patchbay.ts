/** Patchbay's client, as a peer. */

import { type ConnectOptions, connect } from "@patchbay/client";
import type { CallToolResult, LogMessage } from "@patchbay/core";
import type { Connect, ResourcePage } from "./peer-client.ts";

export function patchbay(era: NonNullable<ConnectOptions["era"]>): Connect {
  return async (address, answers) => {
    let onLog: (message: LogMessage) => void = () => {};
    const client = await connect(address, {
      era,
      onLog: (message) => onLog(message),
      ...(answers && {
        onElicit: (params) => answers.elicit(params),
        onSample: (params) => answers.sample(params),
        roots: () => answers.roots,
      }),
    });
    return {
      revision: client.revision,
      server: client.server,
      capabilities: client.capabilities,
      instructions: client.instructions,
      listTools: () => client.listTools(),
      listResources: () => client.listResources(),
      resourcePage: async (cursor) => {
        const page = await client.request("resources/list", cursor === undefined ? {} : { cursor });
        return page as unknown as ResourcePage;
      },
      listResourceTemplates: () => client.listResourceTemplates(),
      listPrompts: () => client.listPrompts(),
      callTool: (name, args, options) => client.callTool(name, args, options),
      readResource: (uri) => client.readResource(uri),
      getPrompt: (name, args) => client.getPrompt(name, args),
      complete: (params) => client.complete(params),
      listenToLogs: (level, listener) => {
        onLog = listener;
        return client.setLogLevel(level);
      },
      changeRoots: (roots) => client.setRoots(roots),
      listen: (filter, onChange) =>
        client.listen(filter, (change) => onChange(change.kind === "resource" ? change.uri : change.kind)),
      callTask: async (name) => {
        const { task } = await client.request("tools/call", { name, arguments: {}, task: {} });
        const { taskId } = task as { taskId: string };
        const result = await client.request("tasks/result", { taskId });
        const { status } = await client.request("tasks/get", { taskId });
        return { told: ["taskCreated", String(status)], result: result as unknown as CallToolResult };
      },
      ping: () => client.ping(),
      close: () => client.close(),
    };
  };
}

/** The reserved `_meta` keys (2026-07-28, basic/index § _meta). */

export const META = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  logLevel: "io.modelcontextprotocol/logLevel",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
  /** 2025-11-25 only: the task that a message belongs to (basic/utilities/tasks § Related Task Metadata). */
  relatedTask: "io.modelcontextprotocol/related-task",
} as const;

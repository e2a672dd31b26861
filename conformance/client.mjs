/** The client under test: the suite starts it with a server's URL, and says in the environment what it should do. */

import { connect } from "@patchbay/client";

/** Ends before the suite loses its patience with us, so that it is told why. */
const PATIENCE = { connectTimeout: 10_000, timeout: 10_000, maxTimeout: 20_000 };
const FOCAL_TOOL = "json_schema_2020_12_tool";

/** What is done while the user is being asked. */
let onAsked = () => {};
/** Leaves each field of a form to its default. */
async function onElicit() {
  await onAsked();
  return { action: "accept", content: {} };
}

const listTools = (client) => client.listTools();

/** What is done in each scenario. Those that are not named list the tools. */
const scenarios = {
  tools_call: (client) => client.callTool("add_numbers", { a: 2, b: 3 }),
  "elicitation-sep1034-client-defaults": callAllTools,
  "sse-retry": callAllTools,
  "http-invalid-tool-headers": callAllTools,
  "http-standard-headers": useEverything,
  "http-custom-headers": async (client, { toolCalls }) => {
    await client.listTools();
    for (const { name, arguments: args } of toolCalls) await client.callTool(name, args);
  },
  "sep-2322-client-request-state": async (client) => {
    await client.listTools();
    onAsked = () => client.callTool("test_mrtr_unrelated");
    for (const name of ["test_mrtr_echo_state", "test_mrtr_no_state", "test_mrtr_no_result_type"]) {
      await client.callTool(name);
    }
  },
  "json-schema-2020-12-preservation": async (client) => {
    const tools = await client.listTools();
    const { inputSchema } = tools.find(({ name }) => name === FOCAL_TOOL);
    await client.callTool("json_schema_echo", { schema: inputSchema });
  },
  "sep-2640-client-no-prefetch": (client) => client.listSkills(),
  "sep-2640-client-verify-digest": readSkills,
  "sep-2640-client-verify-size": readSkills,
  "sep-2640-client-verify-frontmatter": readSkills,
};

async function callAllTools(client) {
  for (const { name } of await client.listTools()) await client.callTool(name);
}

async function useEverything(client) {
  await callAllTools(client);
  for (const { uri } of await client.listResources()) await client.readResource(uri);
  for (const { name } of await client.listPrompts()) await client.getPrompt(name);
}

async function readSkills(client) {
  const skills = await client.listSkills();
  for (const { uri } of skills.flatMap(({ resources }) => resources)) await client.readResource(uri);
}

const { MCP_CONFORMANCE_SCENARIO: scenario, MCP_CONFORMANCE_CONTEXT: context = "{}" } = process.env;
const client = await connect(process.argv[2], { ...PATIENCE, onElicit });
try {
  await (scenarios[scenario] ?? listTools)(client, JSON.parse(context));
} finally {
  await client.close();
}

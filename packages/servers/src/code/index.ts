/** The code server: programs of Python and Node, each in a sandbox; interpreters that are kept; the files they make. */

import { type McpServer, ResourceNotFoundError } from "@patchbay/server";
import { z } from "zod";
import { type FileMap, plainPath, readArchive, writeArchive } from "../sandbox/archive.ts";
import { positive, type SandboxOptions } from "../sandbox/limits.ts";
import { fileContents } from "../sandbox/media.ts";
import { offerSandboxed } from "../sandbox/offer.ts";
import type { Sandbox } from "../sandbox/open.ts";
import { ownerOf } from "../sandbox/owner.ts";
import { type RunRequest, run, withNotes } from "../sandbox/run.ts";
import { Telling } from "../sandbox/telling.ts";
import { type Language, languagesIn } from "./languages.ts";
import { fitting, leftNote, MADE_FILES_TEMPLATE, MadeFiles, type MadeFilesLimits } from "./made-files.ts";
import { type SessionLimits, type SessionOutcome, Sessions } from "./sessions.ts";

export interface CodeOptions extends SandboxOptions, Partial<SessionLimits>, Partial<MadeFilesLimits> {
  /** Bytes of code, of stdin, and of all files that a call brings, each. Default 1,048,576. */
  maxInputBytes?: number;
}

const MAX_FILES = 64;
const MAX_PATH = 100;
const BASE64 = /^[A-Za-z0-9+/_\s-]*={0,2}\s*$/;

const Result = z.object({
  returncode: z.number().describe("The exit code; 124 when it took too long, 137 when it was killed"),
  stdout: z.string(),
  stderr: z.string(),
  truncated: z.boolean().describe("Whether it wrote more than is kept: then the middle was left out"),
  files: z
    .array(z.object({ path: z.string(), uri: z.string(), mimeType: z.string(), size: z.number() }))
    .describe("The files that it made or changed; each can be read as a resource for a while"),
});

const INSTRUCTIONS =
  "Code runs in a sandbox, without a network, without the files of this machine, and with no packages but those that are " +
  "installed. The working folder is /box; files written there come back as resources. Print what you want to see. A call " +
  "without a session starts anew.";

/**
 * Makes the server.
 *
 * @throws Error that names an option that cannot be right. Where there is no sandbox it offers nothing, and says why.
 */
export function createCode(options: CodeOptions = {}): Promise<McpServer> {
  const limit = (name: keyof SessionLimits | keyof MadeFilesLimits | "maxInputBytes", value: number) =>
    positive(name, options[name] ?? value);
  const made = new MadeFiles({
    maxMadeBytes: limit("maxMadeBytes", 16 * 1024 * 1024),
    maxMadeFiles: limit("maxMadeFiles", 256),
    maxKeptBytes: limit("maxKeptBytes", 64 * 1024 * 1024),
    keepFor: limit("keepFor", 60 * 60 * 1000),
  });
  const sessionLimits = {
    maxSessions: limit("maxSessions", 4),
    maxSessionsPerPrincipal: limit("maxSessionsPerPrincipal", 2),
    sessionIdle: limit("sessionIdle", 10 * 60 * 1000),
  };
  const maxInputBytes = limit("maxInputBytes", 1024 * 1024);
  const about = {
    name: "code",
    version: "0.1.0",
    title: "Code",
    description: "Programs of Python and Node, each in a sandbox",
  };
  return offerSandboxed(
    about,
    ["run_code", "start_session", "end_session"],
    options,
    INSTRUCTIONS,
    (server, sandbox) => {
      const languages = languagesIn(sandbox);
      const sessions = new Sessions(sandbox, sessionLimits);
      offerRunCode(server, sandbox, languages, sessions, made, maxInputBytes);
      offerSessions(server, languages, sessions, sessionLimits.sessionIdle);
      offerMadeFiles(server, made);
    },
  );
}

function namesOf(languages: readonly Language[]) {
  return z.enum(languages.map(({ name }) => name) as ["python", "node"]);
}

function offerRunCode(
  server: McpServer,
  sandbox: Sandbox,
  languages: readonly Language[],
  sessions: Sessions,
  made: MadeFiles,
  maxInputBytes: number,
): void {
  const { timeout, maxTimeout } = sandbox.limits;
  const within = (text: string) => Buffer.byteLength(text) <= maxInputBytes;
  const message = `more bytes than maxInputBytes allows (${maxInputBytes})`;
  const file = z
    .object({
      path: z
        .string()
        .max(MAX_PATH)
        .refine((path) => plainPath(path) === path && Buffer.byteLength(path) <= MAX_PATH, {
          message: "a path is relative, without . and .., such as data/table.csv",
        }),
      content: z.string(),
      encoding: z.enum(["utf8", "base64"]).default("utf8"),
    })
    .refine(({ content, encoding }) => encoding === "utf8" || BASE64.test(content), {
      message: "the content is not base64",
      path: ["content"],
    });

  server.tool(
    "run_code",
    {
      title: "Run code",
      description: `Runs a program${sandbox.filter === undefined ? "" : " in a sandbox"}, and tells its exit code, what it wrote, and the files that it made. With a session it goes on where the last call of that session ended.`,
      input: z.object({
        language: namesOf(languages),
        code: z.string().refine(within, { message }).describe("The program"),
        timeout: z.number().positive().max(maxTimeout).default(timeout).describe("Seconds that it may take"),
        stdin: z.string().refine(within, { message }).optional().describe("What it reads; not in a session"),
        files: z
          .array(file)
          .max(MAX_FILES)
          .refine((files) => within(files.map(({ content }) => content).join("")), { message })
          .optional()
          .describe("Files to put into the working folder first"),
        session: z.string().max(100).optional().describe("A handle that start_session gave"),
      }),
      output: Result,
      annotations: {
        readOnlyHint: false,
        destructiveHint: sandbox.filter === undefined,
        idempotentHint: false,
        openWorldHint: sandbox.filter === undefined,
      },
    },
    async ({ language: name, code, timeout, stdin, files = [], session }, ctx) => {
      const language = languages.find((each) => each.name === name) as Language;
      const given = new Map(
        files.map(({ path, content, encoding }) => [path, Buffer.from(content, encoding)]),
      );
      const owner = ownerOf(ctx);
      const telling = new Telling(ctx, timeout);
      const common = { timeout, signal: ctx.signal, onText: telling.write };
      let outcome: SessionOutcome;
      try {
        if (session !== undefined) {
          if (stdin !== undefined) throw new Error("stdin is for calls without a session");
          const live = sessions.find(session, name, owner);
          outcome = await live.run({ ...common, code, files: given, made: made.limits });
        } else {
          given.set(language.file, Buffer.from(code));
          const command = [language.program, language.file];
          outcome = await runOnce(sandbox, { ...common, command, stdin }, given, made.limits);
        }
      } finally {
        telling.end();
      }
      const kept = made.keep(outcome.files, owner);
      const result = { ...outcome, files: kept };
      const links = kept.map(({ path, ...rest }) => ({
        type: "resource_link" as const,
        name: path,
        ...rest,
      }));
      return {
        content: [{ type: "text" as const, text: JSON.stringify(result) }, ...links],
        structuredContent: result,
      };
    },
  );
}

/** A program that starts anew, in a folder that holds what it was given. */
async function runOnce(
  sandbox: Sandbox,
  request: RunRequest,
  given: FileMap,
  limits: MadeFilesLimits,
): Promise<SessionOutcome> {
  const chunks: Buffer[] = [];
  const before = writeArchive(given);
  const files = {
    before,
    after: (chunk: Buffer) => void chunks.push(chunk),
    // Of each file a header and padding; and what was given is in it too.
    maxBytes: 2 * limits.maxMadeBytes + 2 * before.length,
  };
  const { filesKept, ...outcome } = await run(sandbox, { ...request, files });
  const found = [...readArchive(Buffer.concat(chunks))].filter(
    ([path, content]) => !given.has(path) || !content.equals(given.get(path) as Buffer),
  );
  const made = fitting(found, limits);
  const notes = made.left > 0 || !filesKept ? [leftNote(limits)] : [];
  return {
    ...outcome,
    stderr: withNotes(outcome.stderr, outcome.returncode === 137 ? [] : notes),
    files: made.files,
  };
}

function offerSessions(
  server: McpServer,
  languages: readonly Language[],
  sessions: Sessions,
  sessionIdle: number,
): void {
  const minutes = Math.max(1, Math.round(sessionIdle / 60_000));
  server.tool(
    "start_session",
    {
      title: "Start a session",
      description: `Starts an interpreter that keeps its variables and files between calls of run_code. In one of Node modules are had by require(). It ends when it was not used for ${minutes} minutes, when a call takes too long or is cancelled, and with this server.`,
      input: z.object({ language: namesOf(languages) }),
      output: z.object({ session: z.string().describe("Its handle, for run_code"), language: z.string() }),
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: false,
        openWorldHint: false,
      },
    },
    async ({ language }, ctx) => {
      const chosen = languages.find(({ name }) => name === language) as Language;
      return { session: await sessions.start(chosen, ownerOf(ctx)), language };
    },
  );
  server.tool(
    "end_session",
    {
      title: "End a session",
      description: "Ends a session, with all that is in it.",
      input: z.object({ session: z.string().max(100) }),
      annotations: {
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: false,
        openWorldHint: false,
      },
    },
    async ({ session }, ctx) => {
      await sessions.find(session, undefined, ownerOf(ctx)).end();
      return "ended";
    },
  );
}

function offerMadeFiles(server: McpServer, made: MadeFiles): void {
  server.resourceTemplate(
    MADE_FILES_TEMPLATE,
    { name: "file", title: "File", description: "A file that code has made" },
    (uri, { run = "", path = "" }, ctx) => {
      const content = made.find(run, path, ownerOf(ctx));
      if (content === undefined) throw new ResourceNotFoundError(uri);
      return fileContents(uri, path, content);
    },
  );
}

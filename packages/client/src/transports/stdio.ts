/** A server process that speaks over its standard streams (basic/transports/stdio). */

import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { basename } from "node:path";
import type { Readable, Writable } from "node:stream";
import { type Channel, LineReader } from "@patchbay/core";
import { ConnectionError, readable } from "../errors.ts";
import type { Settings } from "../options.ts";
import { tell } from "../tell.ts";
import { channelTransport } from "./channel.ts";
import { environmentFor } from "./environment.ts";
import { type Command, endTree, startTree } from "./process-tree.ts";
import { reopened } from "./reopened.ts";
import type { Transport } from "./transport.ts";

/** Lines of stderr that are kept to explain a failure. */
const KEPT_STDERR_LINES = 20;
const MAX_STDERR_LINE = 8 * 1024;
/** Milliseconds that a dead server's last words have to reach us, should one of its children hold its stdout. */
const LAST_WORDS = 200;
/** Messages that leave in one write at most: a server works on some while we make the next. */
const MAX_TOGETHER = 16;
/** Answers and notifications that wait for the server to read them, until nothing more is read of it. */
const MAX_WAITING_POSTS = 1_000;
/** Values of declared variables that are shorter are no secrets, and would blot out half of every line. */
const MIN_SECRET_LENGTH = 6;

/** Starts a server process and connects to it; one that died can be started again. */
export function stdioTransport(target: Command, settings: Settings): Transport {
  return reopened(() => processTransport(target, settings));
}

function processTransport(target: Command, settings: Settings): Transport {
  const server = new ServerProcess(target, settings);
  return channelTransport(server, {
    serverName: server.name,
    probeExpired: () => server.probeExpired(),
    evidence: () => server.evidence(),
    onStray: (text) => server.onStray(text),
    post: (text) => server.post(text),
  });
}

class ServerProcess implements Channel {
  readonly name: string;
  readonly #target: Command;
  readonly #settings: Settings;
  readonly #child: ChildProcess;
  readonly #stdin: Writable;
  readonly #stderr: string[] = [];
  readonly #secrets: string[];
  #firstStray: string | undefined;
  /** One after another, up to now. */
  #strayLines = 0;
  #onClose: ((cause?: Error) => void) | undefined;
  #waitingPosts = 0;
  /** Lines that are to leave in one write: how many, and how many of them are posts. */
  #outgoing = "";
  #together = 0;
  #outgoingPosts = 0;
  #closing: Promise<void> | undefined;
  readonly #started: Promise<void>;

  constructor(target: Command, settings: Settings) {
    this.#target = target;
    this.#settings = settings;
    this.name = `"${basename(target.command)}"`;
    this.#secrets = Object.values(target.env ?? {}).filter((value) => value.length >= MIN_SECRET_LENGTH);
    try {
      this.#child = startTree(target, environmentFor(target.env));
    } catch (error) {
      throw this.#notStarted(error as Error);
    }
    const { stdin, stdout, stderr } = this.#child;
    // A start that fails is told by an event; where even the pipes could not be made, there is nobody to tell it to.
    this.#child.on("error", () => {});
    if (stdin === null || stdout === null || stderr === null || stdin === undefined) {
      throw this.#notStarted(new Error("no more processes or files can be opened"));
    }
    this.#stdin = stdin;
    // A pipe that breaks is told by the exit of the process, and more exactly.
    for (const stream of [stdin, stdout, stderr]) stream.on("error", () => {});
    this.#readStderr(stderr);
    this.#started = new Promise((resolve) => {
      stdout.once("data", () => resolve());
      stderr.once("data", () => resolve());
    });
  }

  /**
   * What is sent in one turn is written at once.
   *
   * @throws ConnectionError when it was not sent: the end of the connection is told soon, or what waits is too much
   */
  send(text: string, isPost = false): void {
    if (!this.#takes) throw new ConnectionError("closed", `${this.name} does not take anything any more`);
    const { maxQueuedBytes } = this.#settings;
    if (this.#stdin.writableLength + this.#outgoing.length > maxQueuedBytes) {
      throw new ConnectionError(
        "too-large",
        `${this.name} does not read what it is sent: more than maxQueuedBytes (${maxQueuedBytes}) are waiting`,
      );
    }
    if (this.#outgoing === "") process.nextTick(this.#flush);
    this.#outgoing += text;
    this.#outgoing += "\n";
    if (isPost) this.#outgoingPosts++;
    if (++this.#together === MAX_TOGETHER) this.#flush();
  }

  /**
   * Sends an answer or a notification. A server that asks faster than it reads what it is answered is not read on
   * until it has; requests of ours do not count, as a server may have to tell much before it takes the next.
   */
  post(text: string): void {
    if (!this.#takes) return;
    this.send(text, true);
    if (++this.#waitingPosts >= MAX_WAITING_POSTS) this.#child.stdout?.pause();
  }

  readonly #flush = (): void => {
    if (this.#outgoing === "") return;
    const text = this.#outgoing;
    const posts = this.#outgoingPosts;
    this.#outgoing = "";
    this.#outgoingPosts = 0;
    this.#together = 0;
    this.#stdin.write(text, posts === 0 ? undefined : () => this.#onPostsWritten(posts));
  };

  #onPostsWritten(count: number): void {
    const { stdout } = this.#child;
    this.#waitingPosts -= count;
    if (this.#waitingPosts < MAX_WAITING_POSTS / 2 && stdout?.isPaused() === true) stdout.resume();
  }

  get #takes(): boolean {
    return this.#stdin.writable && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  listen(onMessage: (text: string) => void, onClose: (cause?: Error) => void): void {
    this.#onClose = onClose;
    const child = this.#child;
    const stdout = child.stdout as Readable;
    const onLine = (line: string) => {
      // What is left of a chunk when the connection has ended is nobody's.
      if (this.#onClose === undefined) return;
      const strayBefore = this.#strayLines;
      onMessage(line);
      if (this.#strayLines === strayBefore) this.#strayLines = 0;
    };
    const lines = new LineReader(onLine, () => this.#lose(this.#tooLarge()), this.#settings.maxMessageBytes);
    stdout.setEncoding("utf8");
    stdout.on("data", (text: string) => lines.push(text));
    stdout.on("end", () => lines.end());
    child.once("error", (error: NodeJS.ErrnoException) => this.#lose(this.#notStarted(error)));
    child.once("exit", () => {
      const lost = () => this.#lose(this.#exited());
      const timer = setTimeout(lost, LAST_WORDS);
      child.once("close", () => {
        clearTimeout(timer);
        lost();
      });
    });
    stdout.once("end", () => {
      // A server may end the connection by closing its stdout; one that exits is told by its exit.
      setTimeout(() => this.#lose(this.#hungUp()), LAST_WORDS).unref();
    });
  }

  close(): Promise<void> {
    this.#onClose = undefined;
    this.#closing ??= this.#shutdown();
    return this.#closing;
  }

  async #shutdown(): Promise<void> {
    const child = this.#child;
    this.#flush();
    this.#stdin.end();
    // One that waits for us to read on would not see the end.
    child.stdout?.resume();
    await endTree(child, this.#settings.closeTimeout);
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
  }

  /** Resolves `probeTimeout` after the first output, and for a silent process after three times that. */
  async probeExpired(): Promise<void> {
    const { probeTimeout } = this.#settings;
    const patience = new Promise<void>((resolve) => setTimeout(resolve, 2 * probeTimeout).unref());
    await Promise.race([this.#started, patience]);
    await new Promise<void>((resolve) => setTimeout(resolve, probeTimeout).unref());
  }

  /** A line on stdout that is no message. */
  onStray(text: string): void {
    this.#firstStray ??= this.#redacted(readable(text, 200));
    tell(this.#settings.onStrayOutput, readable(text, MAX_STDERR_LINE));
    if (++this.#strayLines > this.#settings.maxStrayLines) this.#lose(this.#notMcp());
  }

  evidence(): string {
    const parts: string[] = [];
    if (this.#firstStray !== undefined) {
      parts.push(`It wrote to stdout what is no MCP message: ${this.#firstStray}`);
    }
    if (this.#stderr.length > 0) {
      parts.push(
        `Its last stderr lines:\n${this.#stderr.map((line) => `  ${this.#redacted(line)}`).join("\n")}`,
      );
    }
    return parts.join("\n");
  }

  #readStderr(stderr: Readable): void {
    const keep = (line: string) => {
      tell(this.#settings.onStderr, readable(line, MAX_STDERR_LINE));
      const text = readable(line);
      if (text === "") return;
      this.#stderr.push(text);
      if (this.#stderr.length > KEPT_STDERR_LINES) this.#stderr.shift();
    };
    const lines = new LineReader(
      keep,
      (max) => keep(`(a line of more than ${max} characters)`),
      MAX_STDERR_LINE,
    );
    stderr.setEncoding("utf8");
    stderr.on("data", (text: string) => lines.push(text));
    stderr.on("end", () => lines.end());
  }

  /** The connection is over, and not by us. */
  #lose(cause: ConnectionError): void {
    const onClose = this.#onClose;
    this.#onClose = undefined;
    this.#child.stdout?.destroy();
    onClose?.(cause);
  }

  #notStarted(error: NodeJS.ErrnoException): ConnectionError {
    const { command, cwd } = this.#target;
    let why = error.message;
    if (cwd !== undefined && !existsSync(cwd)) why = `its working directory ${cwd} does not exist`;
    else if (error.code === "ENOENT") why = "there is no such command; is it installed, and on the PATH?";
    else if (error.code === "EACCES") why = "it may not be executed; check its permissions";
    return new ConnectionError("command", `Could not start "${command}": ${why}`, { cause: error });
  }

  #exited(): ConnectionError {
    const { exitCode, signalCode } = this.#child;
    const how = signalCode === null ? `exited with code ${exitCode}` : `was ended by ${signalCode}`;
    return new ConnectionError("exited", this.#told(`${this.name} ${how}`));
  }

  #hungUp(): ConnectionError {
    return new ConnectionError("closed", this.#told(`${this.name} closed its stdout`));
  }

  #tooLarge(): ConnectionError {
    const { maxMessageBytes } = this.#settings;
    return new ConnectionError(
      "too-large",
      this.#told(`${this.name} wrote a line longer than maxMessageBytes allows (${maxMessageBytes})`),
    );
  }

  #notMcp(): ConnectionError {
    const limit = `maxStrayLines (${this.#settings.maxStrayLines})`;
    return new ConnectionError(
      "not-mcp",
      this.#told(`${this.name} writes more than ${limit} that are no MCP messages`),
    );
  }

  #told(what: string): string {
    const evidence = this.evidence();
    return evidence === "" ? what : `${what}. ${evidence}`;
  }

  #redacted(text: string): string {
    return this.#secrets.reduce((line, secret) => line.replaceAll(secret, "***"), text);
  }
}

/** The command line: which commands there are, what they take, and what their help says. */

import { Command, InvalidArgumentError, Option } from "commander";
import { addConfigCommands } from "./config-commands.ts";
import { type Context, MAX_MILLISECONDS, type ServerOptions } from "./context.ts";
import type { ServeOptions } from "./serving/plan.ts";
import { VERSION } from "./version.ts";

/** Runs what a command line asks for; gives an exit code where it is not 0. */
export type Work = (context: Context) => Promise<number | void>;

const TARGETS = `
A <target> is one of
  a built-in                calculator
  a URL                     http://127.0.0.1:3000/mcp
  a name from mcp.json      github
  a command after --        patchbay tools -- node server.js   (then leave <target> out)

mcp.json is read from the working directory, then from your own configuration folder; --config names another:
  {"mcpServers": {"files": {"command": "npx", "args": ["-y", "some-server", "\${HOME}/docs"]},
                  "far": {"url": "https://example.com/mcp", "headers": {"Authorization": "Bearer \${TOKEN}"}}}}
  \${VAR} is the environment's, \${VAR:-other} has a default. timeout is in milliseconds. .env is read if present.`;

const SERVERS = `
Which servers: those of --server (a built-in, a URL, or a name from mcp.json), or a command after --;
else all of mcp.json; else calculator and weather.`;

const MODELS = `
Which model: MODEL_PROVIDER, MODEL, BASE_URL and API_KEY (or the provider's own: OPENAI_API_KEY, DEEPSEEK_API_KEY,
ANTHROPIC_API_KEY, GEMINI_API_KEY), from the environment or .env. With no key, a model server on this machine; else a
rule planner, which is not an AI model and runs a tool only for an exact form: arithmetic, "tool: text", or
"tool {json}".`;

const SERVING = `
Sessions of clients up to 2025-11-25 live in the process's memory; sealed, they travel in their ids, which any instance
opens that has the same PATCHBAY_SECRETS (of 32 characters or more, divided by commas; the first seals, all open);
in Redis, any instance serves any request (REDIS_URL says where); stateless, there are none. Workers need what no
single process keeps, and get a secret of their own if none is set.
/healthz says 200 while it runs, /readyz while it should be sent requests.
SIGTERM or SIGINT ends it in order: /readyz says 503, --drain-delay passes, streams end, what is being answered is
answered, for --drain-timeout at most. A second one ends it at once.`;

const EXIT_CODES = `
Exit codes: 0 fine, 1 the tool or the question failed, 2 wrong usage, 3 could not connect.`;

/**
 * Builds the commands. Each loads what it needs only when it runs, so that none waits for another's libraries.
 *
 * @param perform is handed the work of the command that was asked for
 * @param asked the command that will be asked for, where that is known: what only others need is left out
 */
export async function createProgram(
  perform: (work: Work) => Promise<void>,
  asked?: string,
): Promise<Command> {
  const program = new Command("patchbay")
    .description(
      "The Model Context Protocol in one command: serve servers, look at them, call them, ask a model that uses them.",
    )
    .version(VERSION, "-V, --version")
    .helpCommand("help [command]", "show help for a command")
    .configureHelp({
      subcommandTerm: (command) => `${command.name()} ${command.usage().replace(/ ?\[options\]/, "")}`,
    })
    .addHelpText(
      "after",
      `
Examples:
  patchbay ask "564*34+12.4/455**2"
  patchbay call calculator add a=1 b=2
  patchbay tools -- npx -y @modelcontextprotocol/server-everything
  patchbay serve calculator --http 3000
${EXIT_CODES}`,
    );

  const add = (name: string, description: string, usage: string, examples: string[], more = ""): Command => {
    const command = program
      .command(name)
      .description(description)
      .usage(usage)
      .addOption(new Option("--json", "print one JSON value on stdout, for errors too"))
      .addOption(new Option("-v, --verbose", "show also what servers log and write to stderr"));
    return command.addHelpText(
      "after",
      `\nExamples:\n${examples.map((line) => `  ${line}\n`).join("")}${more}`,
    );
  };
  /** The options of a command that speaks to servers. */
  const client = (command: Command): Command =>
    command
      .option("--config <file>", "read this configuration instead of mcp.json")
      .option("--yes", "agree to what you would be asked about")
      .addOption(
        new Option("--timeout <ms>", "milliseconds to connect in, and that each request may take").argParser(
          milliseconds(1),
        ),
      );
  const agent = (command: Command): Command =>
    client(command).option("-s, --server <target>", "a server to use; may be repeated", collect);
  /** The options of a command that has a model use them. */
  const asking = (command: Command): Command =>
    agent(command).option("--record <folder>", "keep each turn there as a file, to look at and to replay");

  const serve = add(
    "serve",
    "serve a built-in server, or a module that exports an McpServer",
    "<name|./module.js> [options]",
    [
      "patchbay serve calculator                     over stdio",
      "patchbay serve all --http                     all built-in servers in one",
      "patchbay serve weather --http                 at http://127.0.0.1:3000/mcp",
      "patchbay serve ./my-server.js --http 8080",
      "patchbay serve weather --http --host 0.0.0.0 --allow-host mcp.example.com",
      "patchbay serve weather --http --workers 4 --metrics",
      "patchbay serve weather --http --auth-issuer https://idp.example.com --auth-audience https://mcp.example.com/mcp",
      "REDIS_URL=redis://127.0.0.1:6379 patchbay serve weather --http --sessions redis --log json",
    ],
    SERVING,
  )
    .argument("<name>", "a built-in, or the path of a module")
    .option("--stdio", "speak on stdin and stdout (the default)")
    .option("--http [port]", "speak Streamable HTTP (port 3000; 0 is any free one)")
    .option("--sse [port]", "the same for clients of HTTP+SSE, at /sse (port 3001)")
    .option("--host <address>", "the address to listen on (default 127.0.0.1: this machine only)")
    .option(
      "--allow-host <name>",
      "a host name that clients use, where others can reach it; may be repeated",
      collect,
    )
    .option("--path <path>", "the path of the endpoint (default /mcp)")
    .option("--workers <n>", "processes that share the port; auto is one for each core (default 1)")
    .option(
      "--sessions <kind>",
      "memory, sealed, stateless, redis or redis://… (default memory; sealed with workers)",
    )
    .option(
      "--instance <name>",
      "begins the ids of its sessions, for balancers that keep a session with its instance",
    )
    .option(
      "--max-restarts <n>",
      "times in a row that a worker which dies young is started again (default 10)",
    )
    .addOption(
      new Option(
        "--drain-delay <ms>",
        "milliseconds between being told to stop and taking no more (default 0)",
      ).argParser(milliseconds(0)),
    )
    .addOption(
      new Option(
        "--drain-timeout <ms>",
        "milliseconds in which what is being answered may then finish (default 10000)",
      ).argParser(milliseconds(0)),
    )
    .option("--metrics [port]", "let Prometheus scrape /metrics on a port of its own (default 9464)")
    .option("--metrics-host <address>", "the address of that port (default 127.0.0.1)")
    .option("--auth-issuer <url>", "take only tokens of this authorization server, in every request")
    .option("--auth-audience <url>", "that are for this: the URL that clients use")
    .option("--auth-scopes <scopes>", "and have these scopes, separated by spaces (default none)")
    .option("--auth-jwks <url>", "where the issuer's keys are (default: where its metadata says)")
    .option(
      "--auth-introspection <url>",
      "ask the issuer there about each token, rather than check signatures",
    )
    .option("--auth-client-id <id>", "who this server is there; PATCHBAY_AUTH_CLIENT_SECRET holds its secret")
    .option("--auth-dpop", "take only tokens that are bound to a key (DPoP)")
    .option(
      "--auth-public-url <url>",
      "what stands before the paths of this server for its clients, where a balancer takes some off",
    )
    .option("--auth-keys <file>", "take only keys that you gave out: `patchbay key` makes them")
    .option("--log <format>", "log on stderr as json, or pretty for people (default off)")
    .option(
      "--log-level <level>",
      "the least severe entries: trace, debug, info, warn, error or fatal (default info)",
    )
    .action((name: string, options: ServeOptions) =>
      perform(async (context) => (await import("./commands/serve.ts")).serve(name, options, context)),
    );
  if (asked === "serve" || asked === "help") {
    const [{ addBuiltins }, { builtins }] = await Promise.all([
      import("./serving/builtin-commands.ts"),
      import("@patchbay/servers"),
    ]);
    addBuiltins(serve, builtins, (name, options, told) =>
      perform(async (context) => (await import("./commands/serve.ts")).serve(name, options, context, told)),
    );
  }

  add(
    "key",
    "make a key for a server of yours: it is shown once, and its hash is added to a file",
    "<file> <subject> [options]",
    [
      'patchbay key keys.json nightly --scopes "books:read books:write"',
      "patchbay serve weather --http --auth-keys keys.json",
    ],
  )
    .argument("<file>", "what `serve --auth-keys` reads; it is made where there is none")
    .argument("<subject>", "whose key it is")
    .option("--scopes <scopes>", "what it may do, separated by spaces")
    .option("--expires <time>", "when it ends, such as 2027-12-31 (default: never)")
    .action((file: string, subject: string, options) =>
      perform(async (context) => (await import("./commands/key.ts")).key(file, subject, options, context)),
    );

  for (const [name, what] of [
    ["tools", "list a server's tools and their arguments"],
    ["resources", "list a server's resources and resource templates"],
    ["prompts", "list a server's prompts and their arguments"],
  ] as const) {
    client(
      add(
        name,
        what,
        "<target> [options]",
        [
          `patchbay ${name} everything`,
          `patchbay ${name} http://127.0.0.1:3000/mcp --json`,
          `patchbay ${name} -- node server.js`,
        ],
        TARGETS,
      ),
    )
      .argument("[target]")
      .action((target: string | undefined, options: ServerOptions) =>
        perform(async (context) => (await import("./commands/list.ts"))[name](target, options, context)),
      );
  }

  client(
    add(
      "call",
      "call a tool",
      "<target> <tool> [key=value…] [options]",
      [
        "patchbay call calculator add a=1 b=2",
        `patchbay call calculator calculator expression="2**10"`,
        `patchbay call calculator add --args '{"a": 1, "b": 2}'`,
        "patchbay call sum numbers=1 numbers=2 options:='{\"exact\": true}' -- node server.js",
      ],
      `
A value is converted by the tool's input schema. key:=json gives JSON as it stands; a repeated key makes an array;
--args gives all arguments, unchecked. With --json the whole result is printed, also when isError is true (exit 1).
${TARGETS}
${EXIT_CODES}`,
    ),
  )
    .argument("[words...]")
    .option("--args <json>", "the arguments as one JSON object")
    .action((words: string[], options) =>
      perform(async (context) => (await import("./commands/call.ts")).call(words, options, context)),
    );

  client(
    add(
      "lint",
      "check a server's tools for the providers of models",
      "<target> [options]",
      [
        "patchbay lint everything",
        "patchbay lint calculator --provider gemini --provider openai",
        "patchbay lint http://127.0.0.1:3000/mcp --json",
        "patchbay lint -- node server.js",
      ],
      `
Says what each provider cannot be told of each tool: names, and parts of schemas. No provider is asked. A tool that
cannot be offered at all makes the exit code 1.
${TARGETS}
${EXIT_CODES}`,
    ),
  )
    .argument("[target]")
    .option(
      "--provider <name>",
      "openai, openai-responses, anthropic, gemini, deepseek or ollama; may be repeated (default all)",
      collect,
    )
    .action((target: string | undefined, options) =>
      perform(async (context) => (await import("./commands/lint.ts")).lint(target, options, context)),
    );

  client(
    add(
      "read",
      "read a resource",
      "<target> <uri> [options]",
      [
        "patchbay read everything test://static-text",
        "patchbay read http://127.0.0.1:3000/mcp file:///logo.png > logo.png",
      ],
      `
Text is freed of control characters; --json gives it exactly. Bytes are written as they are, but not to a terminal.
${TARGETS}`,
    ),
  )
    .argument("[words...]")
    .action((words: string[], options: ServerOptions) =>
      perform(async (context) => (await import("./commands/read.ts")).read(words, options, context)),
    );

  client(
    add(
      "get",
      "get a prompt, filled in",
      "<target> <prompt> [key=value…] [options]",
      [
        `patchbay get everything rewrite text="Good morning" style=pirate`,
        "patchbay get review language=ts -- node server.js",
      ],
      TARGETS,
    ),
  )
    .argument("[words...]")
    .action((words: string[], options: ServerOptions) =>
      perform(async (context) => (await import("./commands/get.ts")).get(words, options, context)),
    );

  client(
    add(
      "login",
      "log in to a server with a browser; other commands then use that login",
      "<target> [options]",
      [
        "patchbay login https://mcp.example.com/mcp",
        "patchbay login github --scope repo                  a name from mcp.json",
        "patchbay login https://mcp.example.com/mcp --no-browser",
      ],
      `
The page to open is printed; where there is a browser, it is opened. Credentials are kept beside your own mcp.json, in
credentials.json, which only you may read. With a clientId that has a secret, PATCHBAY_CLIENT_SECRET holds the secret,
and --issuer says whose it is.`,
    ),
  )
    .argument("[target]")
    .option("--scope <scopes>", "ask for these scopes, separated by spaces (default: what the server wants)")
    .option("--client-id <id>", "a client id that was registered before")
    .option("--issuer <url>", "log in at this authorization server alone")
    .option("--client-metadata-url <url>", "a Client ID Metadata Document that says who asks")
    .option("--redirect-uri <url>", "where the browser is sent back to (default: a free port of 127.0.0.1)")
    .option("--no-browser", "print the page, and open nothing")
    .option(
      "--private-host <name>",
      "a host of the login that may be in your private network; may be repeated",
      collect,
    )
    .action((target: string | undefined, options) =>
      perform(async (context) => (await import("./commands/login.ts")).login(target, options, context)),
    );

  client(
    add("logout", "forget a login, here and at the authorization server", "<target> [options]", [
      "patchbay logout https://mcp.example.com/mcp",
    ]),
  )
    .argument("[target]")
    .action((target: string | undefined, options: ServerOptions) =>
      perform(async (context) => (await import("./commands/logout.ts")).logout(target, options, context)),
    );

  client(
    add("whoami", "show who is logged in to a server, or everywhere", "[target] [options]", [
      "patchbay whoami",
      "patchbay whoami https://mcp.example.com/mcp --json",
    ]),
  )
    .argument("[target]")
    .action((target: string | undefined, options: ServerOptions) =>
      perform(async (context) => (await import("./commands/whoami.ts")).whoami(target, options, context)),
    );

  asking(
    add(
      "ask",
      "ask one question; a model answers it with the servers' tools",
      "<question> [options]",
      [
        `patchbay ask "564*34+12.4/455**2"`,
        `patchbay ask "Is it warmer in Oslo or in Rome?" --server weather`,
        `patchbay ask "What does README.md say?" -- npx -y @modelcontextprotocol/server-filesystem .`,
      ],
      `
The answer goes to stdout, the steps to stderr. What may change something asks you first; without a terminal it is
denied, and the exit code is 1.
${SERVERS}
${MODELS}`,
    ),
  )
    .argument("<question...>")
    .action((words: string[], options) =>
      perform(async (context) =>
        (await import("./commands/ask.ts")).ask(words.join(" ").trim(), options, context),
      ),
    );

  asking(
    add(
      "chat",
      "a conversation: questions that know of those before",
      "[options]",
      [
        "patchbay chat",
        "patchbay chat --server calculator --server http://127.0.0.1:3000/mcp",
        `printf '1+1\\n2+2\\n' | patchbay chat`,
        "/everything:rewrite text=Hello           in it: asks a server's prompt; Tab completes",
        "What says @files:file:///notes.md ?      in it: attaches a server's resource",
      ],
      `
exit, quit or Ctrl-D ends it; /help lists its commands. Ctrl-C stops the turn that runs, and its calls; twice, it ends
the conversation. A turn that fails does not. What may change something asks you first; without a terminal
it is denied. A conversation on a terminal is kept beside your own mcp.json, for --resume.
${SERVERS}
${MODELS}`,
    ),
  )
    .option("--resume [id]", "go on with a conversation: the last one, or the one that is named")
    .action((options) =>
      perform(async (context) => (await import("./commands/chat.ts")).chat(options, context)),
    );

  add(
    "replay",
    "answer a recorded question again: no model, no network, no keys",
    "<recording> [options]",
    [
      `patchbay ask "564*34" --record recordings`,
      "patchbay replay recordings/2026-11-30T12-00-00-000Z.jsonl",
    ],
    `
The loop and the clients are the real ones; what the model, the servers and the user said is what was recorded. Exit 1
when the turn goes another way than it did then. A recording is one JSON object a line: docs/host.md says what is in it.`,
  )
    .argument("<recording>", "a file that --record has written")
    .action((path: string) =>
      perform(async (context) => (await import("./commands/replay.ts")).replay(path, context)),
    );

  agent(
    add(
      "doctor",
      "check Node.js, the model's settings and each server, or the way to one; costs nothing",
      "[target] [options]",
      [
        "patchbay doctor",
        "patchbay doctor --server calculator --json",
        "patchbay doctor https://mcp.example.com/mcp     from its discovery to its first answer",
      ],
      `
Keys are said to be set or not, never shown. No model is called. Exit 1 when something needs doing.
With a target at a URL: who authorizes for it, how we get a client id, who is logged in, and its first answer; the
first step that fails is named, with what mends it. It registers nowhere and logs nobody in. Exit 3 when nothing answers.
${SERVERS}`,
    ),
  )
    .argument("[target]")
    .option("--client-id <id>", "a client id that was registered before")
    .option("--issuer <url>", "no other authorization server will do")
    .option("--client-metadata-url <url>", "a Client ID Metadata Document that says who asks")
    .option("--private-host <name>", "a host of the login that may be in your private network", collect)
    .action((target: string | undefined, options) =>
      perform(async (context) =>
        target === undefined
          ? (await import("./commands/doctor.ts")).doctor(options, context)
          : (await import("./commands/doctor-target.ts")).doctorTarget(target, options, context),
      ),
    );

  addConfigCommands(add, perform);
  return program;
}

function milliseconds(least: number): (text: string) => number {
  return (text) => {
    if (/^\d+$/.test(text) && Number(text) >= least && Number(text) <= MAX_MILLISECONDS) return Number(text);
    throw new InvalidArgumentError(
      `It is a whole number of milliseconds, such as 30000, at least ${least} and at most ${MAX_MILLISECONDS}.`,
    );
  };
}

function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}

/** The clocks of requests, while the application answers what a legacy server asks. */

import type { ElicitResult } from "@patchbay/core";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Conversation } from "../src/conversation.ts";
import { connect } from "../src/index.ts";
import { settingsOf } from "../src/options.ts";
import type { Receiver, Transport } from "../src/transports/transport.ts";
import { type Asked, LEGACY, scripted } from "./scripted.ts";

const TEXT = { content: [{ type: "text", text: "done" }] };
const FORM = {
  message: "Who?",
  requestedSchema: { type: "object", properties: { name: { type: "string" } } },
};

describe("a legacy server waits for an answer, and its requests wait with it", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** A call, whose server asks at once; `next` waits for a question, and gives what answers it. */
  async function asked() {
    let tell!: (asked: Asked) => void;
    const called = new Promise<Asked>((resolve) => {
      tell = resolve;
    });
    const server = scripted({
      ...LEGACY,
      "tools/call": (call) => {
        tell(call);
        call.ask("q", "elicitation/create", FORM);
        return undefined;
      },
    });
    const questions: (() => void)[] = [];
    let heard = () => {};
    const onElicit = () =>
      new Promise<ElicitResult>((resolve) => {
        questions.push(() => resolve({ action: "decline" }));
        heard();
      });
    const next = async () => {
      while (questions.length === 0) {
        await new Promise<void>((resolve) => {
          heard = resolve;
        });
      }
      return questions.shift() as () => void;
    };
    const client = await connect(server, { onElicit });
    const outcome = client.callTool("a", {}, { timeout: 100, maxTimeout: 150 }).catch((error) => error);
    return { outcome, call: await called, next };
  }

  test("for as long as it takes", async () => {
    const { outcome, call, next } = await asked();
    const reply = await next();
    await vi.advanceTimersByTimeAsync(1_000_000);
    reply();
    await vi.advanceTimersByTimeAsync(99);
    call.answer(TEXT);
    expect(await outcome).toEqual(TEXT);
  });

  test("until there is one; then it has its time, and no more than maxTimeout of its own", async () => {
    const { outcome, call, next } = await asked();
    const reply = await next();
    await vi.advanceTimersByTimeAsync(1_000_000);
    reply();
    await vi.advanceTimersByTimeAsync(90);
    call.ask("q2", "elicitation/create", FORM);
    const replyAgain = await next();
    await vi.advanceTimersByTimeAsync(1_000_000);
    replyAgain();
    await vi.advanceTimersByTimeAsync(61);
    expect(await outcome).toMatchObject({ name: "TimeoutError", limit: "maxTimeout", value: 150 });
  });

  test("until it takes the question back", async () => {
    const { outcome, call, next } = await asked();
    await next();
    await vi.advanceTimersByTimeAsync(1_000_000);
    call.notify("notifications/cancelled", { requestId: "q" });
    await vi.advanceTimersByTimeAsync(100);
    expect(await outcome).toMatchObject({ name: "TimeoutError", limit: "timeout", value: 100 });
  });
});

test("a question that came on the stream of a request holds that one alone", async () => {
  vi.useFakeTimers();
  try {
    let receiver!: Receiver;
    const sent: number[] = [];
    const transport: Transport = {
      serverName: "streams",
      mirrorsParams: false,
      listen: (listener) => {
        receiver = listener;
      },
      send: (_text, { id }) => sent.push(id),
      post: async () => {},
      cancel() {},
      adopt() {},
      probeExpired: () => new Promise(() => {}),
      evidence: () => "",
      close: async () => {},
    };
    let heard!: () => void;
    const asked = new Promise<void>((resolve) => {
      heard = resolve;
    });
    const onElicit = () => {
      heard();
      return new Promise<ElicitResult>(() => {});
    };
    const conversation = new Conversation(transport, settingsOf({ onElicit, timeout: 100 }));
    conversation.agree("legacy");
    const held = conversation.request({ method: "tools/call", members: "" });
    const other = conversation.request({ method: "tools/call", members: "" }).catch((error) => error);
    const [first = 0] = sent;
    receiver.onMessage({ kind: "request", id: "q", method: "elicitation/create", params: FORM }, first);
    await asked;
    await vi.advanceTimersByTimeAsync(100);
    expect(await other).toMatchObject({ name: "TimeoutError", limit: "timeout" });
    receiver.onMessage({ kind: "result", id: first, result: TEXT }, first);
    expect(await held).toEqual(TEXT);
  } finally {
    vi.useRealTimers();
  }
});

/** Who is there: every Node process that a test caused to exist, whoever started it, until it has ended. */

import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

export interface Attendance {
  /** Goes into the environment of a process; its children inherit it. */
  readonly env: Readonly<Record<string, string>>;
  /** All that have ever been there. */
  readonly pids: readonly number[];
  /** Resolves when all that came have ended. Their connections tell: the system closes them. */
  allLeft(): Promise<void>;
  /** Ends whoever is left: a failed test leaves nothing behind either. */
  close(): Promise<void>;
}

const SIGN_IN = new URL("./sign-in.mjs", import.meta.url).href;

export async function takeAttendance(): Promise<Attendance> {
  const pids: number[] = [];
  const present = new Map<number, Promise<unknown>>();
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", (data) => {
      const pid = Number(data);
      pids.push(pid);
      present.set(
        pid,
        once(socket, "close").then(() => present.delete(pid)),
      );
      socket.write("noted\n");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const allLeft = async () => {
    await Promise.all(present.values());
  };
  return {
    env: {
      ATTENDANCE_PORT: String((server.address() as AddressInfo).port),
      NODE_OPTIONS: `--import ${SIGN_IN}`,
    },
    pids,
    allLeft,
    async close() {
      for (const pid of present.keys()) kill(pid);
      await allLeft();
      server.close();
    },
  };
}

/** True while a process has this pid, or a process group has this id. */
export function exists(pid: number): boolean {
  return [pid, -pid].some((target) => {
    try {
      process.kill(target, 0);
      return true;
    } catch {
      return false;
    }
  });
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended, and its connection is about to tell.
  }
}

/** Loaded into every Node process that a test starts: tells attendance.ts of it before it does anything else. */

import { once } from "node:events";
import { connect } from "node:net";

const socket = connect(Number(process.env.ATTENDANCE_PORT), "127.0.0.1");
socket.on("error", () => {});
socket.write(`${process.pid}\n`);
// It goes on when its presence is noted; from then on the end of the connection is the end of the process.
await once(socket, "data");
socket.unref();

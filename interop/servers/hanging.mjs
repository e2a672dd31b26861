/** Calls that end only when they are cancelled, and a way to ask whether they were. */

const calls = new Map();

function callOf(key) {
  let call = calls.get(key);
  if (call === undefined) {
    let stop;
    const stopped = new Promise((resolve) => {
      stop = resolve;
    });
    call = { stop, stopped };
    calls.set(key, call);
  }
  return call;
}

/** Hangs until the signal aborts. */
export async function hang(key, signal) {
  await new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", resolve, { once: true });
  });
  callOf(key).stop();
}

/** Resolves when the call that hangs by this key has stopped. */
export function stopped(key) {
  return callOf(key).stopped;
}

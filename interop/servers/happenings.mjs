/** What happens in a server, by name: one call tells of it, another waits for it. */

const happenings = new Map();

function happeningOf(name) {
  let happening = happenings.get(name);
  if (happening === undefined) {
    let tell;
    const told = new Promise((resolve) => {
      tell = resolve;
    });
    happening = { tell, told };
    happenings.set(name, happening);
  }
  return happening;
}

export function tell(name) {
  happeningOf(name).tell();
}

/** Resolves when it has been told, be it before or after. */
export function told(name) {
  return happeningOf(name).told;
}

/** Hangs until the signal aborts, then tells so. */
export async function hang(name, signal) {
  await new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", resolve, { once: true });
  });
  tell(name);
}

/** The name of an instance at the start of its sessions' ids, by which a balancer finds it again. */

const NAME = /^[a-z0-9-]{1,63}$/;

/**
 * What the ids of an instance begin with; nothing where it has no name.
 *
 * @throws Error when a header or a balancer's map could not hold the name
 */
export function prefixOf(instance: string | undefined): string {
  if (instance === undefined) return "";
  if (NAME.test(instance)) return `${instance}.`;
  throw new Error(`instance: "${instance}" is no name of an instance: 1 to 63 of a–z, 0–9 and "-"`);
}

/** Takes an id of any instance apart. */
export function splitPrefix(id: string): { prefix: string; rest: string } {
  const dot = id.indexOf(".");
  return { prefix: id.slice(0, dot + 1), rest: id.slice(dot + 1) };
}

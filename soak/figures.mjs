/** What a run counts: outcomes by name, times, and what went wrong, with an example of each. */

const MAX_TIMES = 200_000;

export class Figures {
  /** @type {Map<string, number>} */
  #counts = new Map();
  /** @type {Map<string, { count: number, example: string }>} */
  #wrong = new Map();
  /** @type {Map<string, { count: number, example: string }>} */
  #errors = new Map();
  /** @type {number[]} */
  #times = [];

  /** @param {string} what happened */
  count(what) {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }

  /** @param {number} ms that a call took */
  took(ms) {
    if (this.#times.length < MAX_TIMES) this.#times.push(ms);
    // What comes later counts as much as what came first.
    else this.#times[Math.floor(Math.random() * MAX_TIMES)] = ms;
  }

  /** An error that the run provokes: counted, and shown. */
  error(kind, example) {
    note(this.#errors, kind, example);
  }

  /** What may not happen. */
  wrong(kind, example) {
    note(this.#wrong, kind, example);
  }

  get wrongs() {
    return [...this.#wrong.values()].reduce((sum, { count }) => sum + count, 0);
  }

  wrongsOf(kind) {
    return this.#wrong.get(kind)?.count ?? 0;
  }

  countOf(what) {
    return this.#counts.get(what) ?? 0;
  }

  toJSON() {
    const times = this.#times.sort((a, b) => a - b);
    const at = (part) => Math.round((times[Math.floor(part * (times.length - 1))] ?? 0) * 10) / 10;
    return {
      counts: Object.fromEntries([...this.#counts].sort()),
      milliseconds: { p50: at(0.5), p99: at(0.99), most: at(1) },
      errors: Object.fromEntries(this.#errors),
      wrong: Object.fromEntries(this.#wrong),
    };
  }
}

function note(map, kind, example) {
  const noted = map.get(kind);
  if (noted === undefined) map.set(kind, { count: 1, example: String(example).slice(0, 300) });
  else noted.count++;
}

/** Figures as lines for a person. */
export function lines(figures, indent = "") {
  return Object.entries(figures).flatMap(([name, value]) => {
    if (typeof value !== "object" || value === null) return [`${indent}${name}: ${value}`];
    if ("count" in value && "example" in value) {
      return [`${indent}${value.count} × ${name}, such as: ${value.example}`];
    }
    const inner = lines(value, `${indent}  `);
    return inner.length === 0 ? [`${indent}${name}: none`] : [`${indent}${name}:`, ...inner];
  });
}

/** JSON Schema, and what is said of a value that does not fit one. */

/** A JSON Schema document; the root of a tool's input is an object. */
export interface JsonSchema {
  $schema?: string;
  type?: string | string[];
  [keyword: string]: unknown;
}

/** Where a value does not fit its schema, and what was expected there. */
export interface Issue {
  /** `city`, `items[2].name`; empty for the value itself. */
  path: string;
  message: string;
}

/** Checks a value; gives what is wrong with it, or nothing. */
export type Validate = (value: unknown) => Issue[] | undefined;

/** Writes a path as people do: `items[2].name`. */
export function formatPath(steps: readonly PropertyKey[]): string {
  let path = "";
  for (const step of steps) {
    const key = String(step);
    if (/^\d+$/.test(key)) path += `[${key}]`;
    else path += path === "" ? key : `.${key}`;
  }
  return path;
}

/** Issues as one sentence for people and models: `city: is required; days: must be integer`. */
export function formatIssues(issues: readonly Issue[]): string {
  return issues
    .map((issue) => (issue.path === "" ? issue.message : `${issue.path}: ${issue.message}`))
    .join("; ");
}

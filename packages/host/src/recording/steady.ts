/** What differs from turn to turn by intention, made the same: else no turn would be as it was recorded. */

/** The marks around what comes from outside have a name that nobody can guess. */
const MARKS = /untrusted_[0-9a-f]{12}/g;

export function steady(text: string): string {
  return text.replace(MARKS, "untrusted");
}

/** Counts what passed and failed over several steps, and says it in one closing line. */

const MAX_SHOWN = 50;

export class Tally {
  passed = 0;
  failed = 0;
  /** What was left out, and what to do about it. */
  skipped = [];
  /** What failed, a line each. */
  failures = [];

  /** Says that a step begins. */
  begin(title) {
    console.log(`\n── ${title}`);
  }

  /** A step that is fine or not, and counts as one. */
  step(fine, failure) {
    if (fine) this.passed++;
    else this.fail(failure);
    return fine;
  }

  fail(failure) {
    this.failed++;
    this.failures.push(failure);
  }

  /** Says the result; `N passed, N failed` is the last line. Gives the exit code. */
  close() {
    if (this.passed + this.failed === 0) this.fail("nothing was run");
    if (this.skipped.length > 0) console.log(`\nSkipped:\n${lines(this.skipped)}`);
    if (this.failures.length > 0) console.log(`\nFailed:\n${lines(this.failures)}`);
    console.log(`\n${this.passed} passed, ${this.failed} failed`);
    return this.failed === 0 ? 0 : 1;
  }
}

function lines(items) {
  const shown = items.slice(0, MAX_SHOWN).map((item) => `  ${item}`);
  if (items.length > MAX_SHOWN) shown.push(`  … and ${items.length - MAX_SHOWN} more`);
  return shown.join("\n");
}

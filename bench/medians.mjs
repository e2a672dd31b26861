/** Medians, and the spread around them. */

/** @param {(number | undefined)[]} numbers */
export function median(numbers) {
  const sorted = numbers.filter((n) => n !== undefined).sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length % 2) return sorted[middle];
  return sorted.length ? (sorted[middle - 1] + sorted[middle]) / 2 : undefined;
}

/** Half of the range, as a share of the median. */
export function spread(numbers) {
  return (Math.max(...numbers) - Math.min(...numbers)) / 2 / median(numbers);
}

/** The median of the ratios round by round: what slows the machine for a while slows both. */
export function medianRatio(numbers, others) {
  return median(numbers.map((number, round) => number / others[round]));
}

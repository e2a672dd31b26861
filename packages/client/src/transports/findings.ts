/** What URLs were found to speak, for as long as this process runs (basic/versioning § Backward Compatibility). */

/** How to open a server: as a modern one, or as a legacy one over either transport. */
export type Finding = "modern" | "legacy" | "sse";

/** URLs that are remembered; those found first are forgotten first. */
const MAX_FINDINGS = 1_000;
const findings = new Map<string, Finding>();

/** @param url without query and user: they are not what a server is */
export function findingOf(url: string): Finding | undefined {
  return findings.get(url);
}

export function remember(url: string, finding: Finding): void {
  findings.delete(url);
  findings.set(url, finding);
  if (findings.size > MAX_FINDINGS) findings.delete(findings.keys().next().value as string);
}

/** What was found did not hold. */
export function forget(url: string): void {
  findings.delete(url);
}

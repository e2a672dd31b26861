/** The revisions of the protocol that Patchbay speaks, and the era that each belongs to. */

/** Newest first. */
export const REVISIONS = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;

/** A revision's name is its date. */
export type Revision = (typeof REVISIONS)[number];

/**
 * `modern`: each request carries its version and capabilities, there is no handshake.
 * `legacy`: an `initialize` handshake opens a session (2026-07-28, basic/versioning § Terminology).
 */
export type Era = "legacy" | "modern";

export const MODERN_REVISIONS: readonly Revision[] = REVISIONS.filter(
  (revision) => eraOf(revision) === "modern",
);
export const LEGACY_REVISIONS: readonly Revision[] = REVISIONS.filter(
  (revision) => eraOf(revision) === "legacy",
);
export const LATEST_MODERN: Revision = "2026-07-28";
export const LATEST_LEGACY: Revision = "2025-11-25";

/** Dates compare as text. */
export function eraOf(revision: string): Era {
  return revision >= "2026-07-28" ? "modern" : "legacy";
}

export function isRevision(name: unknown): name is Revision {
  return (REVISIONS as readonly unknown[]).includes(name);
}

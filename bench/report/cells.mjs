/** Numbers as text. */

export const percent = (share) => (share === undefined ? undefined : `${Math.round(share * 100)} %`);

export const milliseconds = (ms) => (ms === undefined ? undefined : `${ms.toFixed(ms < 100 ? 1 : 0)} ms`);

export const bytes = (count) => {
  if (count === undefined) return undefined;
  return Math.abs(count) < 1024 ? `${Math.round(count)} B` : `${(count / 1024).toFixed(1)} KiB`;
};

/** Numbers as text. */

export const percent = (share) => (share === undefined ? undefined : `${Math.round(share * 100)} %`);

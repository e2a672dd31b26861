/** What was approved of servers, for who asks about them without a host: `@patchbay/host/consent`. */

export { type ServerIdentity, trustKey } from "./identity.ts";
export { identityDiff } from "./pins.ts";
export { fileTrust, type TrustStore } from "./trust.ts";

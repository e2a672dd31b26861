/** Getting authorized by OAuth: where credentials are kept, how a user logs in, and how they log out. */

export {
  type Account,
  type Authorized,
  accounts,
  discoverAuthorization,
  type LoginOptions,
  type Logout,
  login,
  logout,
  whoami,
} from "./oauth/account.ts";
export { type BrowserOptions, browser } from "./oauth/browser.ts";
export { type FileStoreOptions, fileStore } from "./oauth/file-store.ts";
export { openUrl } from "./oauth/open-url.ts";
export type {
  AssertionContext,
  Browser,
  ClientCredentials,
  EnterpriseManaged,
  JwtBearer,
  MachineGrant,
  OAuthOptions,
  SigningKey,
  Visit,
} from "./oauth/options.ts";
export {
  type CredentialStore,
  type Grant,
  type Kept,
  memoryStore,
  type Registration,
} from "./oauth/store.ts";

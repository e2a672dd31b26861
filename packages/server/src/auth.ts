/** What verifies the tokens of requests: `@patchbay/server/auth`, for the `auth` option of what serves over HTTP. */

export type { AuthInfo } from "./auth/access.ts";
export type { AuthOptions } from "./auth/gate.ts";
export { type IntrospectionOptions, introspection } from "./auth/introspection.ts";
export { type JwtVerifierOptions, jwtVerifier } from "./auth/jwt.ts";
export { hashKey, type StaticKey, staticKeys } from "./auth/static-keys.ts";
export {
  RefusedTokenError,
  type TokenVerifier,
  type VerifiedToken,
  type VerifyToken,
} from "./auth/verifier.ts";

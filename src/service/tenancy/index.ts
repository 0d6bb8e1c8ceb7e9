/** Tenants, their workspaces and credentials. */
export {
  createCredential,
  type CredentialKey,
  type CredentialKind,
  deriveCredentialKey,
  parseCredential,
  type ParsedCredential,
} from "./credentials.ts";
export { loadCredentialKey, saveCredentialKey, savedCredentialKey } from "./credential-key.ts";
export { TenancyError, type TenancyErrorCode } from "./errors.ts";
export { createKey, type KeyInput, type NewKey, revokeKey } from "./keys.ts";
export { normalizeRepo } from "../../lib/repo.ts";
export { createTenant, type NewTenant, setTenant, type TenantInput } from "./tenants.ts";
export { createWorkspace, findWorkspace } from "./workspaces.ts";

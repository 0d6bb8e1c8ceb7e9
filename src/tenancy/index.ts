/** Tenants, their workspaces and credentials. */
export {
  bearerOf,
  createCredential,
  type CredentialKind,
  hashSecret,
  type NewCredential,
  parseCredential,
  type ParsedCredential,
  isHashInHex,
} from "./credentials.ts";
export { TenancyError, type TenancyErrorCode } from "./errors.ts";
export { createKey, type KeyInput, type NewKey, revokeKey } from "./keys.ts";
export { normalizeRepo } from "./repo.ts";
export { createTenant, type NewTenant, setTenant, type TenantChange, type TenantInput } from "./tenants.ts";
export {
  createWorkspace,
  findWorkspace,
  findWorkspaceByRepo,
  type WorkspaceInput,
  type WorkspaceRow,
} from "./workspaces.ts";

/**
 * Read tokens of workspaces, sealed for the origin that they may be sent to. A token goes to the host it was entered for and to no other,
 * whatever later happens to the clone URL beside it.
 */
import { seal, unseal } from "../../lib/seal.ts";

/** Version 2 of the sealed text: bound to the origin. Version 1 had no prefix and was bound to the workspace only. */
const PREFIX = "v2:";

const purposeOf = (workspaceId: string, origin: string) => `read-token:${workspaceId}:${origin}`;
const oldPurposeOf = (workspaceId: string) => `read-token:${workspaceId}`;

/** Where a token of a workspace is used. */
export interface TokenPlace {
  workspaceId: string;
  cloneUrl: string;
}

/** Scheme, host and port of a clone URL. */
export function originOf(cloneUrl: string): string {
  return new URL(cloneUrl).origin;
}

/** Whether a sealed token has an older version and should be sealed again. */
export function isOldSeal(sealed: string): boolean {
  return !sealed.startsWith(PREFIX);
}

/** Seals a token for the origin of the clone URL. */
export async function sealReadToken(
  secret: string,
  { workspaceId, cloneUrl }: TokenPlace,
  token: string,
): Promise<string> {
  return PREFIX + (await seal(secret, purposeOf(workspaceId, originOf(cloneUrl)), token));
}

/**
 * Opens a sealed token of any version. One of version 1 opens for the clone URL that is stored with it. Throws if the token was sealed for
 * another workspace or origin.
 */
export function unsealReadToken(
  secret: string,
  { workspaceId, cloneUrl }: TokenPlace,
  sealed: string,
): Promise<string> {
  return isOldSeal(sealed)
    ? unseal(secret, oldPurposeOf(workspaceId), sealed)
    : unseal(secret, purposeOf(workspaceId, originOf(cloneUrl)), sealed.slice(PREFIX.length));
}

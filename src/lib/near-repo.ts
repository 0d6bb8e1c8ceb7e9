import { nearName } from "./near-name.ts";

/** The identities that end with a short form of them: `owner/name` or `name`, without regard to case. */
export function endingWith(short: string, identities: readonly string[]): string[] {
  const end = `/${short
    .trim()
    .toLowerCase()
    .replace(/\.git$/, "")}`;
  return end === "/" ? [] : identities.filter((identity) => identity.toLowerCase().endsWith(end));
}

/** The identity that was probably meant: compared by as many of its last parts as were given. */
export function nearRepo(given: string, identities: readonly string[]): string | undefined {
  const count = given.split("/").length;
  const ends = new Map(identities.map((identity) => [identity.split("/").slice(-count).join("/"), identity]));
  const near = nearName(given, [...ends.keys()]);
  return near === undefined ? undefined : ends.get(near);
}

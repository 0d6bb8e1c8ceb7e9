/** Clone addresses as people paste them. */
import { normalizeRepo } from "../../lib/repo.ts";

const MAX_CHARACTERS = 2_000;

/** Pages of a repository in a browser: what follows the repository's own path. GitLab's groups nest, so its pages start with `/-/`. */
const BROWSER_PAGE =
  /^https:\/\/(?:(?:www\.)?(?:github\.com|bitbucket\.org)\/[^/?#\s]+\/[^/?#\s]+|(?:www\.)?gitlab\.com\/[^?#\s]+?(?=\/-\/|[?#]|$))/i;

/**
 * The HTTPS clone address that a pasted one stands for: `git@host:a/b`, `ssh://git@host/a/b`, `host/a/b`, and the address of a page on
 * GitHub, GitLab or Bitbucket, such as `https://github.com/a/b/tree/main/src?plain=1#L3`. Any other text is returned trimmed, for the
 * caller's check to refuse or accept. An SSH address with a port of its own stays, since it does not tell the port of HTTPS.
 */
export function cloneAddress(pasted: string): string {
  const text = pasted.trim();
  if (text.length > MAX_CHARACTERS) return text;
  const page = BROWSER_PAGE.exec(text);
  if (page) return page[0].replace(/\/{1,100}$/, "");
  if (/^https?:\/\//i.test(text)) return text;
  const repo = normalizeRepo(text);
  return repo === undefined || /^[^/]*:/.test(repo) ? text : `https://${repo}`;
}

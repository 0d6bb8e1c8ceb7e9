/** The page to show after signing in; limited to pages of this dashboard, the consent page among them. */
export function nextPath(wanted = ""): string {
  const isPage = /^\/app(?:\/[\w./~%?&=+-]*)?$/.test(wanted) && !wanted.startsWith("/app/api/");
  return isPage || /^\/oauth\/authorize\?[\w./~%?&=+:*-]{1,4000}$/.test(wanted) ? wanted : "/app";
}

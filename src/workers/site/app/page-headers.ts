import { secureHeaders } from "hono/secure-headers";

/**
 * Security headers of the site's pages: everything they load or send to is on the same origin, and no script is inline.
 *
 * @param leaves the page's form is sent or redirects to another origin, which browsers would hold against `form-action`
 */
export function pageHeaders({ leaves = false }: { leaves?: boolean } = {}) {
  return secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      imgSrc: ["'self'"],
      connectSrc: ["'self'"],
      ...(!leaves && { formAction: ["'self'"] }),
      baseUri: ["'none'"],
      frameAncestors: ["'none'"],
    },
    referrerPolicy: "same-origin",
    crossOriginOpenerPolicy: "same-origin",
    xFrameOptions: "DENY",
  });
}

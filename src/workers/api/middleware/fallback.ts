import type { Hono } from "hono";
import { ApiError } from "../../../lib/errors.ts";
import type { ApiContext, ApiHono } from "../context.ts";
import { onError } from "./errors.ts";

/** Answers requests that no route matched: 405 with `Allow` if the path exists for other methods, else 404. */
export function fallback(app: Hono<ApiHono>): (c: ApiContext) => Response {
  const known = new Map<string, { pattern: RegExp; methods: Set<string> }>();
  for (const { method, path } of app.routes) {
    if (method === "ALL") continue;
    const entry = known.get(path) ?? { pattern: toPattern(path), methods: new Set<string>() };
    entry.methods.add(method);
    if (method === "GET") entry.methods.add("HEAD");
    known.set(path, entry);
  }
  return (c) => {
    const methods = new Set(
      [...known.values()]
        .filter(({ pattern }) => pattern.test(c.req.path))
        .flatMap(({ methods }) => Array.from(methods)),
    );
    if (methods.size === 0) return onError(new ApiError("NOT_FOUND", `there is no ${c.req.path}`), c);
    const allow = Array.from(methods).sort().join(", ");
    return onError(
      new ApiError("METHOD_NOT_ALLOWED", `${c.req.method} is not possible here; use ${allow}`, {
        headers: { Allow: allow },
      }),
      c,
    );
  };
}

function toPattern(path: string): RegExp {
  const escaped = path.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`).replace(/\/:[^/]+/g, "/[^/]+");
  return new RegExp(`^${escaped.replace(/\/$/, "")}/?$`);
}

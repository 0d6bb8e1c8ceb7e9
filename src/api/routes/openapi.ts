import { Hono } from "hono";
import type { ApiHono } from "../context.ts";
import { buildDocument } from "../openapi/document.ts";

/** `GET /openapi.json`: the description of the service, public. */
export const openapi = new Hono<ApiHono>();

let text: string | undefined;

openapi.get("/openapi.json", (c) => {
  text ??= JSON.stringify(buildDocument(c.get("services").version));
  return c.body(text, 200, { "Content-Type": "application/json", "Cache-Control": "public, max-age=300" });
});

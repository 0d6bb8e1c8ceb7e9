import * as z from "zod";
import type { OpenApiDocument } from "../openapi/document.ts";
import { publicRoute, type Route } from "../route.ts";

/** `GET /openapi.json`, public. `build` creates the document, which includes this route. */
export function openapiRoute(build: (version: string) => OpenApiDocument): Route {
  let text: string | undefined;
  return publicRoute({
    id: "openapi",
    method: "GET",
    path: "/openapi.json",
    tag: "Service",
    summary: "This API description",
    surface: null,
    responses: { 200: { description: "An OpenAPI 3.1 document.", schema: z.record(z.string(), z.unknown()) } },
    handle: (c) => {
      text ??= JSON.stringify(build(c.get("services").version));
      return c.body(text, 200, { "Content-Type": "application/json", "Cache-Control": "public, max-age=300" });
    },
  });
}

import * as z from "zod";
import { publicRoute, type Route } from "../route.ts";

/** `GET /openapi.json`, public. `routes` are those it describes, this one among them. */
export function openapiRoute(routes: () => readonly Route[]): Route {
  let text: string | undefined;
  return publicRoute({
    id: "openapi",
    method: "GET",
    path: "/openapi.json",
    tag: "Service",
    summary: "This API description",
    surface: null,
    responses: { 200: { description: "An OpenAPI 3.1 document.", schema: z.record(z.string(), z.unknown()) } },
    handle: async (c) => {
      const { buildDocument } = await import("../openapi/document.ts");
      text ??= JSON.stringify(buildDocument(routes(), c.get("services").version));
      return c.body(text, 200, { "Content-Type": "application/json", "Cache-Control": "public, max-age=300" });
    },
  });
}

/**
 * The api Worker's Hono application: every route of `routes.ts`, at `/` and under `/api/v1/`.
 *
 * To add a route:
 * 1. Add the schemas of its request and response to `src/contract`, so that the client shares their types.
 * 2. Define it in `src/workers/api/routes/<name>.ts` with `route` (API key or worker token), `meteredRoute` (costs credits) or
 *    `publicRoute`. The definition includes the documentation. Credential, rate limit and body are checked before the handler runs.
 *    Set `counts` for free calls that `GET /usage` counts.
 * 3. Add it to `routes.ts` and run `npm run docs`.
 */
import { Hono } from "hono";
import type { ApiHono } from "./context.ts";
import { countRequests } from "./middleware/count-requests.ts";
import { onError } from "./middleware/errors.ts";
import { fallback } from "./middleware/fallback.ts";
import { requestContext } from "./middleware/request-context.ts";
import { inTurn } from "./middleware/turns.ts";
import { ROUTES } from "./routes.ts";

const API_PREFIX = "/api/v1";

export function createApp(): Hono<ApiHono> {
  const app = new Hono<ApiHono>({ strict: false });
  app.use(requestContext);
  app.use(countRequests);
  app.use(inTurn);
  // For the operator, so it is in no description of the API.
  app.get("/metrics", async (c) => (await import("./metrics.ts")).answerMetrics(c));
  for (const { method, path, aliases = [], errorForm, answer } of ROUTES) {
    const paths = [path, API_PREFIX + path, ...aliases].map((address) => address.replaceAll(/\{(\w+)\}/g, ":$1"));
    app.on(method, paths, (c) => {
      if (errorForm) c.set("errorForm", errorForm);
      return answer(c);
    });
  }
  app.onError(onError);
  app.notFound(fallback(app));
  return app;
}

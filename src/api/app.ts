import { Hono } from "hono";
import type { ApiHono } from "./context.ts";
import { onError } from "./middleware/errors.ts";
import { requestContext } from "./middleware/request-id.ts";
import { fallback } from "./middleware/fallback.ts";
import { health } from "./routes/healthz.ts";
import { indexRuns } from "./routes/index-runs.ts";
import { indexSnapshot } from "./routes/index-snapshot.ts";
import { snapshotJobs } from "./routes/snapshot.ts";

/** Every route of the service, at `/` and again under `/api/v1/`. */
export function createApp(): Hono<ApiHono> {
  const routes = new Hono<ApiHono>();
  routes.route("/", health);
  routes.route("/", indexRuns);
  routes.route("/", indexSnapshot);
  routes.route("/", snapshotJobs);

  const app = new Hono<ApiHono>({ strict: false });
  app.use(requestContext);
  app.route("/", routes);
  app.route("/api/v1", routes);
  app.onError(onError);
  app.notFound(fallback(app));
  return app;
}

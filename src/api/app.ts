import { Hono } from "hono";
import type { ApiHono } from "./context.ts";
import { answerDirectly } from "./direct.ts";
import { onError } from "./middleware/errors.ts";
import { requestContext } from "./middleware/request-id.ts";
import { fallback } from "./middleware/fallback.ts";
import { embed } from "./routes/embed.ts";
import { health } from "./routes/healthz.ts";
import { indexRuns } from "./routes/index-runs.ts";
import { indexSnapshot } from "./routes/index-snapshot.ts";
import { openapi } from "./routes/openapi.ts";
import { openai } from "./routes/openai.ts";
import { rerankCompat } from "./routes/rerank-compat.ts";
import { rerank } from "./routes/rerank.ts";
import { snapshotJobs } from "./routes/snapshot.ts";
import { usage } from "./routes/usage.ts";

/** The service: its busiest route directly, all others through hono. */
export function createApi(): (request: Request, env: ApiEnv, ctx: ExecutionContext) => Response | Promise<Response> {
  const app = createApp();
  return (request, env, ctx) => answerDirectly(request, env, ctx) ?? app.fetch(request, env, ctx);
}

/** Every route of the service, at `/` and again under `/api/v1/`. */
export function createApp(): Hono<ApiHono> {
  const routes = new Hono<ApiHono>();
  routes.route("/", health);
  routes.route("/", embed);
  routes.route("/", rerank);
  routes.route("/", usage);
  routes.route("/", indexRuns);
  routes.route("/", indexSnapshot);
  routes.route("/", snapshotJobs);
  routes.route("/", openapi);
  routes.route("/v1", openai);
  routes.route("/v1", rerankCompat);
  // Where version 2 of Cohere's clients looks for the same.
  routes.route("/v2", rerankCompat);

  const app = new Hono<ApiHono>({ strict: false });
  app.use(requestContext);
  app.route("/", routes);
  app.route("/api/v1", routes);
  // So that `<site>/api/v1` is a base URL for OpenAI's clients too; `/api/v1/rerank` is our own.
  app.route("/api/v1", openai);
  app.onError(onError);
  app.notFound(fallback(app));
  return app;
}

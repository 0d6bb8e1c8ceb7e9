import type { Context } from "hono";
import type { Logger } from "../log.ts";
import type { Services } from "./services.ts";

/** What every handler finds in Hono's context. */
export interface ApiVariables {
  requestId: string;
  log: Logger;
  services: Services;
  /** Format of the route's error bodies, where it is not our own. */
  errorForm?: "compat";
}

export type ApiHono = { Bindings: ApiEnv; Variables: ApiVariables };
export type ApiContext = Context<ApiHono>;

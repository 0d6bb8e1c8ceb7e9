import type { Context } from "hono";
import type { Logger } from "../../lib/log.ts";
import type { Services } from "./services.ts";

/** Variables in Hono's context. */
export interface ApiVariables {
  requestId: string;
  log: Logger;
  services: Services;
  /** Format of the route's error bodies, if it is not the contract's. */
  errorForm?: "compat";
}

export type ApiHono = { Bindings: ApiEnv; Variables: ApiVariables };
export type ApiContext = Context<ApiHono>;

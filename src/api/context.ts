import type { Context } from "hono";
import type { Logger } from "../log.ts";
import type { Services } from "./services.ts";

/** What every handler finds in hono's context. */
export interface ApiVariables {
  requestId: string;
  log: Logger;
  services: Services;
}

export type ApiHono = { Bindings: ApiEnv; Variables: ApiVariables };
export type ApiContext = Context<ApiHono>;

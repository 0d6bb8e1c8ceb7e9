import type { Context } from "hono";
import type { Logger } from "../../lib/log.ts";
import type { Turn } from "../../lib/turns.ts";
import type { Services } from "./services.ts";

/** Variables in Hono's context. */
interface ApiVariables {
  requestId: string;
  log: Logger;
  services: Services;
  /** The turn in which the request works; see `middleware/turns.ts`. */
  turn: Turn;
  /** Format of the route's error bodies, if it is not the contract's. */
  errorForm?: "compat";
}

export type ApiHono = { Bindings: ApiEnv; Variables: ApiVariables };
export type ApiContext = Context<ApiHono>;

import { actorOf } from "../../../service/users/index.ts";
import { type DashboardContext, sessionOf } from "./context.ts";

/** The signed-in user as the actor of audit events. */
export function actorOfSession(c: DashboardContext): string {
  return actorOf(sessionOf(c).user.id);
}

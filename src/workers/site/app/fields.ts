import { actorOf } from "../../../service/users/index.ts";
import { type DashboardContext, sessionOf } from "./context.ts";

/** Whether a string is a UUID and may be passed to the database. */
export function isUuid(text: string): boolean {
  return /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/.test(text);
}

/** The signed-in user as the actor of audit events. */
export function actorOfSession(c: DashboardContext): string {
  return actorOf(sessionOf(c).user.id);
}

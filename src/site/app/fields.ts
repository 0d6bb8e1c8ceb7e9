import { actorOf } from "../../users/index.ts";
import { type DashboardContext, sessionOf } from "./context.ts";

/** Whether text is a UUID, so that it can be compared with one in the database. */
export function isUuid(text: string): boolean {
  return /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/.test(text);
}

/** The signed-in person as the actor of audit events. */
export function actorOfSession(c: DashboardContext): string {
  return actorOf(sessionOf(c).user.id);
}

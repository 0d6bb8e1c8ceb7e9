import { actorOf } from "../../../service/users/index.ts";
import { invalid } from "./answers.tsx";
import { type DashboardContext, sessionOf } from "./context.ts";

/** The signed-in user as the actor of audit events. */
export function actorOfSession(c: DashboardContext): string {
  return actorOf(sessionOf(c).user.id);
}

/** The time in a parameter of the query: a form's local time (as UTC) or an ISO instant. Throws `INVALID_BODY` for anything else. */
export function readTime(c: DashboardContext, name: string): Date | undefined {
  const text = c.req.query(name)?.trim() || undefined;
  if (text === undefined) return undefined;
  const date = new Date(/(?:Z|[+-]\d\d:\d\d)$/.test(text) ? text : `${text}Z`);
  if (Number.isNaN(date.getTime())) throw invalid(name, "expected a time such as 2026-11-21T14:30");
  return date;
}

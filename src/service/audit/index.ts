/** The audit log: typed events, each recorded once. */
export { type AuditDetails, type AuditEvent, type AuditEventName } from "./events.ts";
export { recordAudit, recordAuditStatement } from "./record.ts";

/** How long a team's records are kept, in days: what its settings offer. The last is the default; an operator's database keeps none longer. */
export const RETENTION_DAYS = { runDays: [30, 90], auditDays: [30, 90, 365] } as const;

export const DEFAULT_RETENTION = { runDays: 90, auditDays: 365 } as const;

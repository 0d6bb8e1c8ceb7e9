DROP INDEX "audit_events_at";--> statement-breakpoint
CREATE INDEX "audit_events_time" ON "audit_events" USING brin ("at");
ALTER TABLE "runs" ADD COLUMN "submission" jsonb;--> statement-breakpoint
CREATE INDEX "runs_unsubmitted" ON "runs" USING btree ("created_at") WHERE "runs"."submission" is not null;
-- contract: the constraint is replaced below by a wider one.
ALTER TABLE "credentials" DROP CONSTRAINT "credentials_kind";--> statement-breakpoint
ALTER TABLE "credentials" ADD COLUMN "restrictions" jsonb;--> statement-breakpoint
ALTER TABLE "credentials" ADD COLUMN "parent_id" text;--> statement-breakpoint
ALTER TABLE "credentials" ADD CONSTRAINT "credentials_parent_id_credentials_id_fk" FOREIGN KEY ("parent_id") REFERENCES "public"."credentials"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "credentials_parent" ON "credentials" USING btree ("parent_id","expires_at") WHERE "credentials"."parent_id" is not null;--> statement-breakpoint
ALTER TABLE "credentials" ADD CONSTRAINT "credentials_kind" CHECK ("credentials"."kind" in ('api_key', 'worker_token', 'narrow_api_key', 'narrow_worker_token'));
ALTER TABLE "credentials" ADD COLUMN "user_id" uuid;--> statement-breakpoint
ALTER TABLE "credentials" ADD COLUMN "agent" jsonb;--> statement-breakpoint
ALTER TABLE "credentials" ADD CONSTRAINT "credentials_member" FOREIGN KEY ("tenant_id","user_id") REFERENCES "public"."memberships"("tenant_id","user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "credentials_member" ON "credentials" USING btree ("tenant_id","user_id") WHERE "credentials"."user_id" is not null;
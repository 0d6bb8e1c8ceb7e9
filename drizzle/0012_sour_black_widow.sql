CREATE TABLE "mails" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid,
	"kind" text NOT NULL,
	"about" text,
	"sealed" text,
	"attempts" smallint DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"due_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"sent_at" timestamp with time zone,
	"error" text
);
--> statement-breakpoint
CREATE TABLE "sign_in_guesses" (
	"subject" text NOT NULL,
	"day" date NOT NULL,
	"wrong" smallint NOT NULL,
	CONSTRAINT "sign_in_guesses_subject_day_pk" PRIMARY KEY("subject","day")
);
--> statement-breakpoint
CREATE TABLE "account_credits" (
	"user_id" uuid NOT NULL,
	"tenant_id" uuid NOT NULL,
	"period" text NOT NULL,
	"credits" bigint NOT NULL,
	CONSTRAINT "account_credits_user_id_period_tenant_id_pk" PRIMARY KEY("user_id","period","tenant_id")
);
--> statement-breakpoint
ALTER TABLE "tenants" ADD COLUMN "created_by" uuid;--> statement-breakpoint
ALTER TABLE "mails" ADD CONSTRAINT "mails_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "mails_due" ON "mails" USING btree ("due_at") WHERE "mails"."sealed" is not null;--> statement-breakpoint
CREATE INDEX "mails_about" ON "mails" USING btree ("about") WHERE "mails"."sealed" is not null;--> statement-breakpoint
CREATE INDEX "mails_tenant" ON "mails" USING btree ("tenant_id");--> statement-breakpoint
CREATE INDEX "tenants_created_by" ON "tenants" USING btree ("created_by") WHERE "tenants"."created_by" is not null;
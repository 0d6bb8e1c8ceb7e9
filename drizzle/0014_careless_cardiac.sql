CREATE TABLE "texts" (
	"tenant_id" uuid NOT NULL,
	"sha256" "bytea" NOT NULL,
	"pack" text NOT NULL,
	"ordinal" integer NOT NULL,
	"size_bytes" integer NOT NULL,
	"withheld_lines" integer NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "texts_tenant_id_sha256_pk" PRIMARY KEY("tenant_id","sha256")
);
--> statement-breakpoint
ALTER TABLE "git_blobs" DROP CONSTRAINT "git_blobs_known";--> statement-breakpoint
ALTER TABLE "revisions" ADD COLUMN "text_list" text;--> statement-breakpoint
ALTER TABLE "revisions" ADD COLUMN "text_packs" text[];--> statement-breakpoint
ALTER TABLE "texts" ADD CONSTRAINT "texts_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "texts_pack" ON "texts" USING btree ("pack");--> statement-breakpoint
ALTER TABLE "git_blobs" ADD CONSTRAINT "git_blobs_known" CHECK ("git_blobs"."sha256" is not null or "git_blobs"."skip" is not null);
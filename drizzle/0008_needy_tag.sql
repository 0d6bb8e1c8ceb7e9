CREATE TABLE "erasures" (
	"tenant_id" uuid PRIMARY KEY NOT NULL,
	"requested_at" timestamp with time zone DEFAULT now() NOT NULL,
	"workspace_ids" jsonb NOT NULL,
	"prefixes" jsonb NOT NULL,
	"finished_at" timestamp with time zone,
	"report" jsonb
);

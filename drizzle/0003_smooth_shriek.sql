ALTER TABLE "contents" ADD COLUMN "segment" text;--> statement-breakpoint
ALTER TABLE "revisions" ADD COLUMN "search_table" text;--> statement-breakpoint
ALTER TABLE "revisions" ADD COLUMN "search_segments" text[];
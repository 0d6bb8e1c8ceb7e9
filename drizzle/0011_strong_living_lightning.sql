CREATE INDEX IF NOT EXISTS "chunks_hash_content" ON "chunks" USING btree ("hash","content_id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "vectors_hash" ON "vectors" USING btree ("chunk_hash","tenant_id","used_on");--> statement-breakpoint
DROP INDEX "chunks_hash";

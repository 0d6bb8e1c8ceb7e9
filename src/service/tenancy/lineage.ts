import { type SQL, sql } from "drizzle-orm";
import { MAX_TOKEN_DEPTH } from "../../contract/credentials.ts";

/** The clause `with recursive lineage as (…)`: a credential of a tenant (`depth` 0) and those that it was made from, with all columns. */
export const withLineage = (tenantId: string, credentialId: string): SQL => sql`
  with recursive lineage as (
    select c.*, 0 as depth from credentials c where c.id = ${credentialId} and c.tenant_id = ${tenantId}::uuid
    union all
    select p.*, depth + 1 from lineage join credentials p on p.id = lineage.parent_id where depth < ${MAX_TOKEN_DEPTH}
  )`;

import { createHash } from "node:crypto";
import { BuiltinEmbedder } from "../../src/engines/embedding/builtin/embedder.ts";
import type { TableSource } from "../../src/engines/embedding/builtin/term-table.ts";

/**
 * Texts whose builtin vectors must not change by a single bit, in Node and in workerd. If `GOLDEN_SHA256` changes, every stored
 * vector is outdated: increment `PREPROCESSING_VERSION` of the builtin embedder.
 */
export const GOLDEN_TEXTS: readonly string[] = [
  "export async function parseHTTPHeader(value: string): Promise<Header> {\n  return value.split(',');\n}",
  "def iter_urls(self, max_retries=3):\n    # yields every URL, retrying\n    yield from self._urls",
  "SELECT id, created_at FROM users WHERE tenant_id = $1 ORDER BY created_at DESC",
  "static int xdl_prepare_env(mmfile_t *mf1, xpparam_t const *xpp, xdfenv_t *xe)",
  "Größe der Überschrift, Ελληνικά ΚΕΦΑΛΑΙΑ, Привет МИР",
  "全文検索エンジンを作る、한국어 문장",
  "0xDEADBEEF utf8 sha256 v1.2.3-rc.4",
  "😀 !!! ==> {}",
  "a",
];

/** SHA-256 over the vectors of all texts at 256, then at 1,000 dimensions, as little-endian float32. */
export const GOLDEN_SHA256 = "53275643691e193a99dde1ceb65271964fa660732010d5080d2e474d85b3af6f";

/** Of the vectors of `hashOfTermVectors`. */
export const GOLDEN_TERMS_SHA256 = "4ed048ae565531674a109d99ea4c9c9dd435d4fcac3f9711103c2bf1fbae7e64";

/** Hash of the texts' vectors by the table, as questions and as code. */
export async function hashOfTermVectors(table: TableSource): Promise<string> {
  const hash = createHash("sha256");
  const embedder = new BuiltinEmbedder(256, table);
  for (const inputType of ["query", "document"] as const)
    for (const vector of (await embedder.embed(GOLDEN_TEXTS, { inputType })).vectors)
      hash.update(new Uint8Array(vector.buffer));
  return hash.digest("hex");
}

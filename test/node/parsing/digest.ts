/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "2875e813cb451b2f26faa4abc3bc262a9f5cacce026403beedf04ef5307a00ec";

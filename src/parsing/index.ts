export { embeddingText, MAX_WEIGHT, TARGET_WEIGHT } from "./chunks.ts";
export { DEFAULT_EXTENSIONS, detectLanguage, isDefaultIncluded, isLanguageId, languageInfo } from "./detect.ts";
export { ParserUnavailableError } from "./engine.ts";
export { type GrammarName, type GrammarSource, type LanguageId, type LanguageInfo, LANGUAGES } from "./languages.ts";
export { type CodeParser, createParser, PARSER_VERSION, type ParseInput } from "./parser.ts";
export { findSecrets, type SecretRange } from "./secrets.ts";
export { contentSkipReason, type ContentSkipReason, skipReason, type SkipReason } from "./skip.ts";
export type { ChunkRecord, FallbackReason, ParsedFile, SymbolKind, SymbolRecord } from "./types.ts";

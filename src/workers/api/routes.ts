/** All routes of the service. The router, the OpenAPI document and the manual are built from this table. */
import type { Route } from "./route.ts";
import { cohereEmbedV1, cohereEmbedV2 } from "./routes/cohere-compat.ts";
import { checkEmbed, embed } from "./routes/embed.ts";
import { coverageRoute, filesRoute, grepRoute } from "./routes/exact.ts";
import { health } from "./routes/healthz.ts";
import { hook } from "./routes/hooks.ts";
import { cancelRunRoute, index, listRunsRoute, runStatusRoute } from "./routes/index-runs.ts";
import { publishSnapshot, readSnapshot } from "./routes/index-snapshot.ts";
import { mcp } from "./routes/mcp.ts";
import { openaiEmbeddings, openaiModels } from "./routes/openai-compat.ts";
import { makeOverlayRoute } from "./routes/overlays.ts";
import { openapiRoute } from "./routes/openapi.ts";
import { compatRerank } from "./routes/rerank-compat.ts";
import { checkRerank, rerank } from "./routes/rerank.ts";
import {
  definitionRoute,
  referencesRoute,
  symbolsRoute,
  fileRoute,
  impactRoute,
  outlineRoute,
  pathRoute,
  searchRoute,
} from "./routes/search.ts";
import { startSnapshotJob } from "./routes/snapshot.ts";
import { endToken, makeToken } from "./routes/tokens.ts";
import { usage } from "./routes/usage.ts";

/** In the manual's order. */
export const ROUTES: readonly Route[] = [
  embed,
  checkEmbed,
  rerank,
  checkRerank,
  usage,
  makeToken,
  endToken,
  index,
  runStatusRoute,
  listRunsRoute,
  cancelRunRoute,
  hook,
  searchRoute,
  symbolsRoute,
  referencesRoute,
  definitionRoute,
  pathRoute,
  impactRoute,
  outlineRoute,
  fileRoute,
  grepRoute,
  coverageRoute,
  filesRoute,
  makeOverlayRoute,
  startSnapshotJob,
  readSnapshot,
  publishSnapshot,
  mcp,
  openaiEmbeddings,
  openaiModels,
  cohereEmbedV2,
  cohereEmbedV1,
  compatRerank,
  health,
  openapiRoute(() => ROUTES),
];

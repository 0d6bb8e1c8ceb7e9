import { readCount, readFlag, readPublicUrl } from "../../lib/config.ts";
import { DEFAULT_STORAGE_LIMIT_BYTES } from "../../contract/limits.ts";
import {
  createEmbedder,
  createReranker,
  type Embedder,
  readAiBinding,
  readEmbedConfig,
  readRerankConfig,
  type Reranker,
} from "../../engines/embedding/index.ts";
import { workerTerms } from "../../engines/embedding/builtin/terms-worker.ts";
import { readTrustedProxies, type TrustedProxies } from "../../service/gate/proxies.ts";
import { type GitHostPolicy, readGitHosts } from "../../engines/git/wire/url.ts";
import { createLogger, type Logger } from "../../lib/log.ts";
import { type CredentialKey, deriveCredentialKey } from "../../service/tenancy/credentials.ts";
import { createPresigner, type Presigner } from "../../service/snapshots/presign.ts";

/** Dependencies of the routes that are built from the environment. */
export interface Services {
  log: Logger;
  /** Key of the check in credentials' public ids. */
  credentialKey: CredentialKey;
  /** Undefined if the provider is `none`. */
  embedder: Embedder | undefined;
  reranker: Reranker | undefined;
  /** Time limit of one embedding or reranking. */
  upstreamTimeoutMs: number;
  presigner: Presigner | undefined;
  /** Storage limit of one tenant's snapshots. */
  storageLimitBytes: number;
  gitHosts: GitHostPolicy;
  proxies: TrustedProxies;
  /** Public addresses of the service, whose pages may call it. */
  ownOrigins: string[];
  region: string;
  version: string;
  now: () => number;
}

let built: { env: ApiEnv; services: Services } | undefined;

/** Builds the services once per isolate, whose environment never changes. */
export function servicesOf(env: ApiEnv): Services {
  if (built?.env === env) return built.services;
  const vars = env as unknown as Record<string, unknown>;
  const fetcher: typeof fetch = (input, init) => fetch(input, init);
  const providerDeps = { fetch: fetcher, terms: workerTerms, ...readAiBinding(vars) };
  const embedConfig = readEmbedConfig(vars);
  const services: Services = {
    log: createLogger({ worker: "api", version: env.SERVICE_VERSION }),
    credentialKey: deriveCredentialKey(env.ENCRYPTION_KEY),
    embedder: createEmbedder(embedConfig, providerDeps),
    reranker: createReranker(readRerankConfig(vars), providerDeps),
    upstreamTimeoutMs: embedConfig.timeoutMs,
    presigner: createPresigner({
      endpoint: env.SNAPSHOTS_S3_URL,
      accessKeyId: env.R2_ACCESS_KEY_ID,
      secretAccessKey: env.R2_SECRET_ACCESS_KEY,
    }),
    storageLimitBytes: readCount("STORAGE_LIMIT_BYTES", env.STORAGE_LIMIT_BYTES) ?? DEFAULT_STORAGE_LIMIT_BYTES,
    gitHosts: {
      allowLocal: readFlag("GIT_ALLOW_LOCAL", env.GIT_ALLOW_LOCAL),
      hosts: readGitHosts(env.GIT_HOSTS),
    },
    proxies: readTrustedProxies(env.TRUSTED_PROXIES),
    ownOrigins: [readPublicUrl("API_URL", env.API_URL), readPublicUrl("SITE_URL", env.SITE_URL)].filter(
      (url) => url !== undefined,
    ),
    region: env.REGION,
    version: env.SERVICE_VERSION,
    now: Date.now,
  };
  built = { env, services };
  return services;
}

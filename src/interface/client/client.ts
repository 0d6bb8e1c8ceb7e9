import type {
  CommitRequest,
  CommitResponse,
  EmbedCheckResponse,
  EmbedRequest,
  EmbedResponse,
  FileResponse,
  HealthResponse,
  IndexRequest,
  ImpactResponse,
  IndexResult,
  ListResponse,
  DefinitionResponse,
  OutlineResponse,
  PathResponse,
  ProbeResponse,
  PullResponse,
  ReferencesResponse,
  RerankCheckResponse,
  OverlayRequest,
  OverlayResponse,
  RerankRequest,
  RerankResponse,
  RevokeTokenResponse,
  RunAccepted,
  RunList,
  RunStatus,
  SearchResponse,
  SignRequest,
  SignResponse,
  SnapshotJobAccepted,
  SnapshotJobRequest,
  SymbolsResponse,
  TokenRequest,
  TokenResponse,
  CoverageResponse,
  FilesResponse,
  GrepResponse,
  UsageResponse,
} from "../../contract/index.ts";
import type {
  Asked,
  COVERAGE,
  FILE,
  FILES,
  GREP,
  IMPACT,
  CALL_PATH,
  DEFINITION,
  OUTLINE,
  REFERENCES,
  SEARCH,
  SYMBOLS,
} from "../../contract/questions.ts";
import { readAnswer } from "./answers.ts";
import { CodeContextError } from "./errors.ts";
import { streamRun } from "./runs.ts";
import type { Call } from "./call.ts";
import { Transport, type CallOptions, type TransportOptions } from "./transport.ts";

export interface ClientOptions extends TransportOptions {
  /** For `/embed`, `/rerank`, `/usage` and `/index-snapshot`. */
  apiKey?: string;
  /** For `/index` and `/snapshot`. */
  workerToken?: string;
  /**
   * Fingerprint of the stored vectors. If set, an answer with another fingerprint throws `FINGERPRINT_CHANGED`; if not,
   * `onFingerprintChange` is called and the answer is returned.
   */
  pinnedFingerprint?: string;
  /** Called when the embedding space changed since the last answer: re-embed vectors stored under `previous`. */
  onFingerprintChange?: (change: { previous: string; current: string }) => void;
}

/** Exactly one of the two names a workspace. */
export type Selector = { repo: string } | { workspaceId: string };

type Input<T extends { inputType?: unknown }> = Omit<T, "inputType"> & Partial<Pick<T, "inputType">>;
type SignInput = Omit<SignRequest, "op">;
type CommitInput = Omit<CommitRequest, "op">;
export type IndexInput = Omit<IndexRequest, "options"> & { options?: Partial<IndexRequest["options"]> };

/** Where to ask: one workspace, or all of the tenant's; `ref` is an indexed branch, tag or full commit, by default the current revision. */
interface Where {
  repo?: string | undefined;
  workspaceId?: string | undefined;
  ref?: string | undefined;
  /** From `createOverlay`, instead of `ref`. */
  overlay?: string | undefined;
}
export type SearchInput = Where & Asked<typeof SEARCH>;
type GrepInput = Where & Asked<typeof GREP>;
type CoverageInput = Where & Asked<typeof COVERAGE>;
type FilesInput = Where & Asked<typeof FILES>;
export type SymbolsInput = Where & Asked<typeof SYMBOLS>;
export type ReferencesInput = Where & Asked<typeof REFERENCES>;
type ImpactInput = Where & Asked<typeof IMPACT>;
type DefinitionInput = Where & Asked<typeof DEFINITION>;
type PathInput = Where & Asked<typeof CALL_PATH>;
export type OutlineInput = Where & Asked<typeof OUTLINE>;
export type FileInput = Where & Asked<typeof FILE>;

/** Time limit of a synchronous `POST /index`, which answers when the run is done. */
const SYNC_INDEX_TIMEOUT_MS = 15 * 60_000;

/** A typed client for every route of the service. Uses `fetch` and timers only: Node, Workers and browsers. */
export class CodeContextClient {
  readonly #transport: Transport;
  readonly #options: ClientOptions;
  #lastFingerprint: string | undefined;
  readonly snapshots: Snapshots;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#transport = new Transport(options);
    this.#lastFingerprint = options.pinnedFingerprint;
    this.snapshots = new Snapshots(this.#transport, () => this.#key());
  }

  /** Fingerprint of the last answer that carried one, or the pinned one. */
  get fingerprint(): string | undefined {
    return this.#lastFingerprint;
  }

  /** `GET /embed`: checks the key and returns the embedding space. Free. */
  async checkEmbed(options?: CallOptions): Promise<EmbedCheckResponse> {
    const answer = await this.#transport.json(this.#metered("GET", "/embed"), "EmbedCheckResponse", options);
    this.#sawFingerprint(answer.fingerprint);
    return answer;
  }

  /** `POST /embed`: one vector per input; `embeddings[].index` is the input's position. Metered. */
  async embed(request: Input<EmbedRequest>, options?: CallOptions): Promise<EmbedResponse> {
    const answer = await this.#transport.json(this.#metered("POST", "/embed", request), "EmbedResponse", options);
    this.#sawFingerprint(answer.fingerprint);
    return answer;
  }

  /** `GET /rerank`: checks the key. Free. */
  async checkRerank(options?: CallOptions): Promise<RerankCheckResponse> {
    return this.#transport.json(this.#metered("GET", "/rerank"), "RerankCheckResponse", options);
  }

  /** `POST /rerank`: results in the provider's order; sort them by `relevanceScore`. Metered. */
  async rerank(request: RerankRequest, options?: CallOptions): Promise<RerankResponse> {
    return this.#transport.json(this.#metered("POST", "/rerank", request), "RerankResponse", options);
  }

  async usage(options?: CallOptions): Promise<UsageResponse> {
    return this.#transport.json(this.#metered("GET", "/usage"), "UsageResponse", options);
  }

  /** `POST /tokens`: makes a narrower, shorter API key from this one. Its value is in the answer and cannot be read again. */
  async createToken(request: TokenRequest, options?: CallOptions): Promise<TokenResponse> {
    return this.#transport.json(this.#tokens("POST", "/tokens", request), "TokenResponse", options);
  }

  /** `DELETE /tokens/{id}`: revokes a token that was made from this API key, and those made from it. */
  async revokeToken(id: string, options?: CallOptions): Promise<RevokeTokenResponse> {
    const call = this.#tokens("DELETE", `/tokens/${encodeURIComponent(id)}`);
    return this.#transport.json(call, "RevokeTokenResponse", options);
  }

  /** `POST /index`, answered when the run is done. For long runs, use {@link startIndex} and {@link streamRun}. */
  async index(request: IndexInput, options?: CallOptions): Promise<IndexResult> {
    const call = this.#worker("POST", "/index", "index", request);
    return this.#transport.json(call, "IndexResult", { timeoutMs: SYNC_INDEX_TIMEOUT_MS, ...options });
  }

  /** `POST /index` with `Prefer: respond-async`: returns at once; the run continues in the background. */
  async startIndex(request: IndexInput, options?: CallOptions): Promise<RunAccepted> {
    const call = this.#worker("POST", "/index", "index", request);
    return this.#transport.json({ ...call, headers: { Prefer: "respond-async" } }, "RunAccepted", options);
  }

  async runStatus(runId: string, options?: CallOptions): Promise<RunStatus> {
    return this.#transport.json(this.#runCall(runId), "RunStatus", options);
  }

  /** `GET /index?workspaceId=…`: the newest runs of a workspace. */
  async listRuns(workspaceId: string, { limit }: { limit?: number } = {}, options?: CallOptions): Promise<RunList> {
    const query = new URLSearchParams({ workspaceId, ...(limit === undefined ? {} : { limit: String(limit) }) });
    return this.#transport.json(this.#worker("GET", `/index?${query.toString()}`, "index_status"), "RunList", options);
  }

  /** `DELETE /index/{runId}`: cancels a run and returns its status. A run that has ended is not changed. */
  async cancelRun(runId: string, options?: CallOptions): Promise<RunStatus> {
    const call: Call = { ...this.#runCall(runId), method: "DELETE" };
    return this.#transport.json(call, "RunStatus", options);
  }

  /**
   * Yields a run's status whenever it changes; the last one is `succeeded` or `failed`. Follows the event stream, reconnects
   * when it breaks, and polls if the service has none.
   */
  streamRun(runId: string, options?: CallOptions): AsyncGenerator<RunStatus> {
    return streamRun(this.#transport, this.#runCall(runId), options);
  }

  /** `POST /snapshot`: starts a job that builds and publishes a snapshot. Follow `runId` like an index run. */
  async startSnapshotJob(request: SnapshotJobRequest, options?: CallOptions): Promise<SnapshotJobAccepted> {
    return this.#transport.json(this.#worker("POST", "/snapshot", "snapshot", request), "SnapshotJobAccepted", options);
  }

  /** `POST /search`: searches one workspace, or all of them; best results first. */
  async search(request: SearchInput, options?: CallOptions): Promise<SearchResponse> {
    return this.#transport.json(this.#question("/search", request), "SearchResponse", options);
  }

  /** `POST /overlays`: has edits indexed on top of a commit; the id is for the `overlay` of the questions, for an hour. */
  async createOverlay(request: OverlayRequest, options?: CallOptions): Promise<OverlayResponse> {
    return this.#transport.json(this.#question("/overlays", request), "OverlayResponse", options);
  }

  /** `GET /symbols`: definitions by name. Throws `NOT_FOUND` with similar names if there are none. */
  async symbols(query: SymbolsInput, options?: CallOptions): Promise<SymbolsResponse> {
    return this.#transport.json(this.#lookup("/symbols", query), "SymbolsResponse", options);
  }

  /** `GET /references`: the lines that use a name. */
  async references(query: ReferencesInput, options?: CallOptions): Promise<ReferencesResponse> {
    return this.#transport.json(this.#lookup("/references", query), "ReferencesResponse", options);
  }

  /** `GET /definition`: what the name at a position of a file means. */
  async definition(query: DefinitionInput, options?: CallOptions): Promise<DefinitionResponse> {
    return this.#transport.json(this.#lookup("/definition", query), "DefinitionResponse", options);
  }

  /** `GET /path`: how one definition reaches another through calls. */
  async path(query: PathInput, options?: CallOptions): Promise<PathResponse> {
    return this.#transport.json(this.#lookup("/path", query), "PathResponse", options);
  }

  /** `POST /impact`: what a change concerns. */
  async impact(request: ImpactInput, options?: CallOptions): Promise<ImpactResponse> {
    return this.#transport.json(this.#question("/impact", request), "ImpactResponse", options);
  }

  /** `GET /outline`: the symbols of a file. */
  async outline(query: OutlineInput, options?: CallOptions): Promise<OutlineResponse> {
    return this.#transport.json(this.#lookup("/outline", query), "OutlineResponse", options);
  }

  /** `GET /file`: lines of a file as they were indexed. */
  async file(query: FileInput, options?: CallOptions): Promise<FileResponse> {
    return this.#transport.json(this.#lookup("/file", query), "FileResponse", options);
  }

  /** `POST /grep`: every line that matches a pattern, and whether all text was searched. */
  async grep(request: GrepInput, options?: CallOptions): Promise<GrepResponse> {
    return this.#transport.json(this.#question("/grep", request), "GrepResponse", options);
  }

  /** `GET /coverage`: what is searched, and why the rest is not. */
  async coverage(query: Selector & CoverageInput, options?: CallOptions): Promise<CoverageResponse> {
    return this.#transport.json(this.#lookup("/coverage", query), "CoverageResponse", options);
  }

  /** `GET /files`: the files of a workspace, page by page. */
  async files(query: Selector & FilesInput, options?: CallOptions): Promise<FilesResponse> {
    return this.#transport.json(this.#lookup("/files", query), "FilesResponse", options);
  }

  /** `GET /healthz`. Returns the document of a service that is not ready too, instead of throwing. */
  async health(options?: CallOptions): Promise<HealthResponse> {
    const call: Call = { method: "GET", path: "/healthz", surface: "healthz", credential: undefined, repeatable: true };
    return this.#transport.json({ ...call, acceptStatus: 503 }, "HealthResponse", options);
  }

  #sawFingerprint(current: string): void {
    const { pinnedFingerprint } = this.#options;
    if (pinnedFingerprint !== undefined && current !== pinnedFingerprint) {
      throw new CodeContextError(
        "FINGERPRINT_CHANGED",
        `the embedding space changed from ${pinnedFingerprint} to ${current}: stored vectors must be embedded again`,
        { details: { pinned: pinnedFingerprint, current } },
      );
    }
    const previous = this.#lastFingerprint;
    this.#lastFingerprint = current;
    if (previous !== undefined && previous !== current) this.#options.onFingerprintChange?.({ previous, current });
  }

  #key(): string {
    const { apiKey } = this.#options;
    if (apiKey === undefined) throw new CodeContextError("INVALID_API_KEY", "this call needs an API key");
    return apiKey;
  }

  #metered(method: "GET" | "POST", path: string, body?: unknown): Call {
    return { method, path, surface: "metered", credential: this.#key(), body, repeatable: true };
  }

  #tokens(method: "POST" | "DELETE", path: string, body?: unknown): Call {
    return { method, path, surface: "tokens", credential: this.#key(), body, repeatable: method === "DELETE" };
  }

  #question(path: string, body: object): Call {
    return { method: "POST", path, surface: "search", credential: this.#key(), body, repeatable: true };
  }

  #lookup(path: string, query: object): Call {
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    const parameters = new URLSearchParams(Object.fromEntries(given.map(([name, value]) => [name, String(value)])));
    return {
      method: "GET",
      path: `${path}?${parameters.toString()}`,
      surface: "search",
      credential: this.#key(),
      repeatable: true,
    };
  }

  #worker(method: "GET" | "POST", path: string, surface: Call["surface"], body?: unknown): Call {
    const { workerToken } = this.#options;
    if (workerToken === undefined) throw new CodeContextError("UNAUTHORIZED", "this call needs a worker token");
    return { method, path, surface, credential: workerToken, body, repeatable: method === "GET" };
  }

  #runCall(runId: string): Call {
    return this.#worker("GET", `/index/${encodeURIComponent(runId)}`, "index_status");
  }
}

/** `/index-snapshot`: shared snapshots of a workspace's index. */
export class Snapshots {
  readonly #transport: Transport;
  readonly #key: () => string;

  /** @internal */
  constructor(transport: Transport, key: () => string) {
    this.#transport = transport;
    this.#key = key;
  }

  /** The current snapshot's manifest and a signed download URL. Throws `NO_SNAPSHOT` if there is none. */
  async pull(selector: Selector, options?: CallOptions): Promise<PullResponse> {
    return this.#transport.json(this.#get(new URLSearchParams(selector)), "PullResponse", options);
  }

  /** Metadata of the current snapshot, if there is one. */
  async probe(selector: Selector, options?: CallOptions): Promise<ProbeResponse> {
    return this.#transport.json(this.#get(new URLSearchParams({ ...selector, probe: "1" })), "ProbeResponse", options);
  }

  /** Lists every workspace of the tenant. */
  async list(options?: CallOptions): Promise<ListResponse> {
    return this.#transport.json(this.#get(new URLSearchParams({ list: "1" })), "ListResponse", options);
  }

  /** Gets an upload URL. The PUT must carry `uploadHeaders`. */
  async sign(request: SignInput, options?: CallOptions): Promise<SignResponse> {
    return this.#transport.json(this.#post({ op: "sign", ...request }), "SignResponse", options);
  }

  /** Makes an uploaded artifact the current snapshot. Idempotent. */
  async commit(request: CommitInput, options?: CallOptions): Promise<CommitResponse> {
    return this.#transport.json(this.#post({ op: "commit", ...request }), "CommitResponse", options);
  }

  #get(query: URLSearchParams): Call {
    return { ...this.#post(undefined), method: "GET", path: `/index-snapshot?${query.toString()}` };
  }

  #post(body: unknown): Call {
    const path = "/index-snapshot";
    return { method: "POST", path, surface: "index_snapshot", credential: this.#key(), body, repeatable: true };
  }
}

/** The `result` of a succeeded index run; undefined for any other. */
export async function indexResultOf(status: RunStatus): Promise<IndexResult | undefined> {
  const read = await readAnswer("IndexResult", status.result);
  return "answer" in read ? read.answer : undefined;
}

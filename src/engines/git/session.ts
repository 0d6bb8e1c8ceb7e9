import { type Advertisement, readAdvertisement } from "./wire/advertisement.ts";
import { GitError } from "./errors.ts";
import { type GitDeps, type GitRemote, HttpTransport } from "./wire/http.ts";
import { withDefaultLimits } from "./limits.ts";
import type { ObjectFormat } from "./object.ts";
import { PacketReader } from "./wire/pkt-line.ts";
import { type PullRequest, PullState } from "./pull.ts";
import { peelCommit } from "./wire/peel.ts";
import { type ResolvedRef, resolveName } from "./wire/refs.ts";
import { withRetries } from "./wire/retry.ts";
import { Operation } from "./operation.ts";
import { type PullLimits, runPull } from "./strategy.ts";
import { TreeStore } from "./trees/tree-store.ts";

/** What a server offers beyond the minimum. */
export interface GitCapabilities {
  /** Partial clone: the server can omit blobs. */
  filter: boolean;
  /** Shallow clone: the server can omit history. */
  shallow: boolean;
  /** Any object can be requested by its id. */
  anyWant: boolean;
  /** The server's advertised agent string. */
  agent: string | undefined;
}

export interface PullStats {
  requests: number;
  receivedBytes: number;
  sentBytes: number;
  /** Pack entries read, and how many of them were deltas. */
  objects: number;
  deltas: number;
  /** Blobs delivered. */
  blobs: number;
}

export interface PullResult {
  rootTree: string;
  /** All trees of the commit (with those of `have` underneath; `encode` keeps only the commit's). */
  trees: TreeStore;
  stats: PullStats;
}

/** A remote repository with known capabilities. Operations may run one after another or concurrently. */
export interface GitSession {
  readonly objectFormat: ObjectFormat;
  readonly protocol: 0 | 2;
  readonly capabilities: GitCapabilities;
  /**
   * Finds the commit of HEAD (default), a branch, a tag, a full `refs/…` name or a full commit id.
   * @throws GitError REF_NOT_FOUND, EMPTY_REPOSITORY
   */
  resolve(ref?: string): Promise<ResolvedRef>;
  /** Pulls a commit's trees and the blobs the plan names. @throws GitError */
  pull(request: PullRequest): Promise<PullResult>;
}

/**
 * Reads a repository's references and capabilities over smart HTTP; prefers protocol v2, accepts v0.
 * @throws GitError URL_FORBIDDEN, AUTH, NOT_FOUND, NETWORK, TIMEOUT, PROTOCOL, LIMIT, ABORTED
 */
export async function connect(remote: GitRemote, deps: GitDeps): Promise<GitSession> {
  const limits = withDefaultLimits(deps.limits);
  const transport = new HttpTransport(remote, deps, limits);
  const operation = new Operation(limits.wallMs, deps.signal);
  try {
    const advertisement = await withRetries(operation, limits.attempts, async () => {
      const packets = new PacketReader(await transport.getRefs(operation));
      try {
        return await readAdvertisement(packets, limits, transport.scrub);
      } finally {
        packets.cancel();
      }
    });
    return new Session(transport, advertisement, deps);
  } finally {
    operation.end();
  }
}

class Session implements GitSession {
  readonly objectFormat: ObjectFormat;
  readonly protocol: 0 | 2;
  readonly capabilities: GitCapabilities;
  readonly #transport: HttpTransport;
  readonly #advertisement: Advertisement;
  readonly #deps: GitDeps;
  /** Features that the server has refused are not requested again. */
  readonly #learned: PullLimits;

  constructor(transport: HttpTransport, advertisement: Advertisement, deps: GitDeps) {
    this.#transport = transport;
    this.#advertisement = advertisement;
    this.#deps = deps;
    this.objectFormat = advertisement.objectFormat;
    this.protocol = advertisement.protocol;
    const { capabilities, protocol } = advertisement;
    const features = protocol === 2 ? (capabilities.get("fetch") ?? "").split(" ") : [...capabilities.keys()];
    this.capabilities = {
      filter: features.includes("filter"),
      shallow: features.includes("shallow"),
      anyWant: protocol === 2,
      agent: capabilities.get("agent"),
    };
    const { filter, shallow, anyWant } = this.capabilities;
    this.#learned = { filter, blobLimit: filter, shallow, anyWant };
  }

  async #within<T>(work: (operation: Operation) => Promise<T>): Promise<T> {
    const operation = new Operation(this.#transport.limits.wallMs, this.#deps.signal);
    try {
      return await work(operation);
    } finally {
      operation.end();
    }
  }

  resolve(ref = "HEAD"): Promise<ResolvedRef> {
    return this.#within(async (operation) => {
      const { resolved, list } = await resolveName(this.#transport, operation, this.#advertisement, ref);
      if (resolved !== undefined) return resolved;
      const oid = ref.toLowerCase();
      const defaultBranch = list.head?.startsWith("refs/heads/") === true ? list.head.slice(11) : null;
      return { oid: await this.#checkCommit(operation, oid, list.refs), refName: null, defaultBranch };
    });
  }

  /** Checks that a commit id exists, if the server can tell cheaply; peels tag objects. */
  async #checkCommit(
    operation: Operation,
    oid: string,
    refs: readonly { oid: string; peeled?: string }[],
  ): Promise<string> {
    const known = refs.find((one) => one.oid === oid || one.peeled === oid);
    if (known !== undefined) return known.peeled ?? known.oid;
    const { protocol } = this;
    const learned = this.#learned;
    const advertisement = this.#advertisement;
    if (protocol === 0) {
      const anyReachable = ["allow-reachable-sha1-in-want", "allow-any-sha1-in-want"].some((name) =>
        advertisement.capabilities.has(name),
      );
      if (anyReachable) return oid;
      throw new GitError("REF_NOT_FOUND", `this server only serves tips of branches and tags, and ${oid} is not one`);
    }
    if (!learned.filter) return oid;
    return peelCommit(this.#transport, operation, advertisement, oid);
  }

  pull(request: PullRequest): Promise<PullResult> {
    return this.#within(async (operation) => {
      const trees = new TreeStore(this.objectFormat, request.have?.trees);
      const plan = request.plan.bind(request);
      const state = new PullState(
        this.#transport,
        operation,
        this.#advertisement,
        request.commit,
        trees,
        request,
        plan,
      );
      const before = { ...this.#transport.traffic };
      const rootTree = await runPull(state, this.#learned, request, this.#transport.limits);
      return { rootTree, trees, stats: this.#stats(state, before) };
    });
  }

  #stats(state: PullState, before: { requests: number; receivedBytes: number; sentBytes: number }): PullStats {
    const { traffic } = this.#transport;
    return {
      requests: traffic.requests - before.requests,
      receivedBytes: traffic.receivedBytes - before.receivedBytes,
      sentBytes: traffic.sentBytes - before.sentBytes,
      objects: state.objects,
      deltas: state.deltas,
      blobs: state.blobs,
    };
  }
}

import type { Advertisement } from "./wire/advertisement.ts";
import { corrupt, GitError, overLimit, protocolError } from "./errors.ts";
import type { HttpTransport } from "./wire/http.ts";
import { headerField, isOid, OBJ_BLOB, OBJ_COMMIT, OBJ_TAG, OBJ_TREE, type ObjectType, oidBytes } from "./object.ts";
import { OidSet } from "./oid-table.ts";
import { PackReader } from "./pack/pack-reader.ts";
import type { PackSink } from "./pack/pack-sink.ts";
import { PendingDeltas } from "./pack/pending.ts";
import { openPack, type PackRequest } from "./wire/request.ts";
import { withRetries } from "./wire/retry.ts";
import { ObjectRing, type RingEntry } from "./pack/ring.ts";
import type { Operation } from "./operation.ts";
import { checkExpansion, TreeTracker } from "./trees/tree-tracker.ts";
import type { TreeStore } from "./trees/tree-store.ts";

/** How the caller receives blobs. */
export interface BlobHandlers {
  /** Larger blobs are not delivered. */
  maxBlobBytes: number;
  /**
   * Called exactly once for each wanted blob. The transfer pauses until a returned promise resolves. The caller may keep
   * `data` unless `borrowBlobs` is set.
   */
  onBlob(oid: string, data: Uint8Array): void | Promise<void>;
  /** Called for each wanted blob larger than `maxBlobBytes`; the size is unknown when the server filtered the blob out. */
  onOversize?: ((oid: string, size: number | undefined) => void) | undefined;
  onProgress?: ((progress: { receivedBytes: number; objects: number }) => void) | undefined;
  /** Pass views that are valid only until `onBlob` returns or its promise resolves; saves one copy per blob. */
  borrowBlobs?: boolean | undefined;
}

/** Ring size of a request for trees only: delta bases come from the tree store. */
const TREES_RING_BYTES = 1024 * 1024;

export interface PullRequest extends BlobHandlers {
  /** Full id of the commit. */
  commit: string;
  /**
   * An earlier pull to build on: the server sends only trees that differ, then only the planned blobs. Without it, one
   * request fetches everything up to the size limit.
   */
  have?: { commit: string; trees: TreeStore } | undefined;
  /** Called exactly once, when every tree of the commit is known. Returns the ids of the blobs to deliver. */
  plan(trees: TreeStore, rootTree: string): Iterable<string> | Promise<Iterable<string>>;
}

/**
 * State of one pull across its requests: which trees are known, which blobs are still wanted. Objects may arrive
 * in any order: blobs that arrive before the plan is made are held in the ring until then.
 */
export class PullState implements PackSink {
  readonly trees: TreeStore;
  readonly pending: PendingDeltas;
  rootTree: string | undefined;
  /** Blobs wanted and not delivered yet; undefined until the plan is made. */
  remaining: OidSet | undefined;
  objects = 0;
  deltas = 0;
  blobs = 0;
  /** Blobs that were discarded before the plan was made. */
  dropped = 0;
  lostObjects = 0;
  /** A request with a blob size filter has been sent for the wanted blobs. */
  filtered = false;
  readonly #transport: HttpTransport;
  readonly #operation: Operation;
  readonly #advertisement: Advertisement;
  readonly #commit: string;
  readonly #handlers: BlobHandlers;
  readonly #plan: (trees: TreeStore, root: string) => Iterable<string> | Promise<Iterable<string>>;
  readonly tracker: TreeTracker;
  #ring: ObjectRing | undefined;
  /** Fetches only the trees, for when held blobs fill the ring; false when the server does not support it. */
  fetchTrees: (() => Promise<boolean>) | undefined;

  constructor(
    transport: HttpTransport,
    operation: Operation,
    advertisement: Advertisement,
    commit: string,
    trees: TreeStore,
    handlers: BlobHandlers,
    plan: (trees: TreeStore, root: string) => Iterable<string> | Promise<Iterable<string>>,
  ) {
    this.#transport = transport;
    this.#operation = operation;
    this.#advertisement = advertisement;
    this.#commit = commit;
    this.trees = trees;
    this.#handlers = handlers;
    this.#plan = plan;
    this.tracker = new TreeTracker(trees);
    this.pending = new PendingDeltas(transport.limits.pendingDeltaBytes);
  }

  get maxBlobBytes(): number {
    return this.#handlers.maxBlobBytes;
  }

  /** Sends one request and reads its pack; retries failures that occur before the first delivery. */
  async fetchPack(request: PackRequest, treesOnly = false): Promise<void> {
    const transport = this.#transport;
    const operation = this.#operation;
    const advertisement = this.#advertisement;
    const { limits } = transport;
    let before = this.blobs;
    await withRetries(
      operation,
      limits.attempts,
      async () => {
        before = this.blobs;
        const { source, packets } = await openPack(transport, operation, advertisement, request);
        const { objectFormat } = advertisement;
        let ring: ObjectRing;
        if (treesOnly) ring = new ObjectRing(TREES_RING_BYTES, oidBytes(objectFormat));
        else {
          this.#ring ??= new ObjectRing(limits.ringBytes, oidBytes(objectFormat));
          ring = this.#ring;
          ring.clear();
        }
        const { maxBlobBytes } = this.#handlers;
        const reader = new PackReader(source, this, objectFormat, limits, ring, this.pending, maxBlobBytes);
        try {
          if (await reader.run()) await source.drain();
        } finally {
          this.objects += reader.objects;
          this.deltas += reader.deltas;
          packets.cancel();
        }
        if (this.remaining === undefined) for (const _ of ring.held()) this.dropped++;
      },
      // Some hosts answer an unknown filter with HTTP 500; a retry would fail again.
      (error) => this.blobs === before && !(error.status === 500 && request.filter !== undefined),
    );
  }

  object(
    type: ObjectType,
    oid: string,
    buf: Uint8Array,
    start: number,
    end: number,
    entry: RingEntry | undefined,
  ): void | Promise<void> {
    if (type === OBJ_BLOB) {
      if (this.remaining !== undefined) return this.#blob(oid, buf, start, end);
      if (entry === undefined) this.dropped++;
      else entry.held = true;
      return undefined;
    }
    if (type === OBJ_TREE) {
      this.trees.add(oid, buf, start, end);
      if (this.trees.bytes > this.#transport.limits.treesTotalBytes) {
        throw overLimit(`directories of more than ${this.#transport.limits.treesTotalBytes} bytes`);
      }
      this.tracker.arrived(oid);
    } else if (oid === this.#commit) {
      if (type === OBJ_TAG) throw new GitError("REF_NOT_FOUND", `${oid} is a tag, not a commit`);
      if (type === OBJ_COMMIT) this.setRoot(headerField(buf.subarray(start, end), "tree"));
    }
    if (this.remaining === undefined && this.tracker.complete) return this.makePlan();
    return undefined;
  }

  setRoot(oid: string): void {
    if (!isOid(this.trees.objectFormat, oid)) throw corrupt("commit with a malformed tree id");
    if (this.rootTree === oid) return;
    this.rootTree = oid;
    this.tracker.setRoot(oid);
  }

  /** An empty set for ids of this repository's hash length. */
  oidSet(oids: Iterable<string>): OidSet {
    return new OidSet(oidBytes(this.trees.objectFormat), oids);
  }

  /** Calls the caller's plan once and delivers the held blobs that it wants. */
  async makePlan(): Promise<void> {
    if (this.remaining !== undefined || this.rootTree === undefined) return;
    checkExpansion(this.trees, this.rootTree, this.#transport.limits);
    const wanted = await this.#operation.race(Promise.resolve(this.#plan(this.trees, this.rootTree)));
    this.remaining = this.oidSet(wanted);
    const ring = this.#ring;
    if (ring === undefined) return;
    for (const entry of ring.held()) {
      entry.held = false;
      const handed = this.#blob(entry.oid, ring.buf, entry.start, entry.start + entry.length);
      if (handed !== undefined) await handed;
    }
  }

  #blob(oid: string, buf: Uint8Array, start: number, end: number): void | Promise<void> {
    if (this.remaining?.delete(oid) !== true) return undefined;
    const handlers = this.#handlers;
    if (end - start > handlers.maxBlobBytes) {
      handlers.onOversize?.(oid, end - start);
      return undefined;
    }
    this.blobs++;
    const handed = handlers.onBlob(
      oid,
      handlers.borrowBlobs === true ? buf.subarray(start, end) : buf.slice(start, end),
    );
    return handed === undefined ? undefined : this.#operation.race(handed);
  }

  oversize(oid: string, size: number): void {
    if (this.remaining === undefined) this.dropped++;
    else if (this.remaining.delete(oid)) this.#handlers.onOversize?.(oid, size);
  }

  lost(): void {
    this.lostObjects++;
  }

  async pressure(): Promise<void> {
    if (this.remaining === undefined && (await this.fetchTrees?.()) === true) await this.makePlan();
    if (this.remaining !== undefined || this.#ring === undefined) return;
    for (const entry of this.#ring.held()) {
      entry.held = false;
      this.dropped++;
    }
  }

  satisfied(): boolean {
    return this.remaining !== undefined && this.remaining.size === 0 && this.pending.size === 0;
  }

  progress(): void {
    this.#handlers.onProgress?.({ receivedBytes: this.#transport.traffic.receivedBytes, objects: this.objects });
  }

  tree(oid: string): Uint8Array | undefined {
    return this.trees.get(oid);
  }

  /** Reports every blob that no request delivered as oversize. */
  reportOversize(): void {
    for (const oid of this.remaining ?? []) this.#handlers.onOversize?.(oid, undefined);
    this.remaining?.clear();
  }

  /** @throws GitError PROTOCOL naming the missing objects */
  missing(what: string): never {
    throw protocolError(`the server did not send ${what}`);
  }
}

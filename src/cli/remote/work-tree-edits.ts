import type { CodeContextClient } from "../../interface/client/client.ts";
import { CodeContextError } from "../../interface/client/errors.ts";
import type { CallOptions } from "../../interface/client/transport.ts";
import type { Scope } from "../../interface/questions/code-index.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { gitLine } from "../git/command.ts";
import { editsOf } from "../git/edits.ts";
import { resolveCommit } from "../git/git.ts";
import { sha256 } from "../machine/checksum.ts";

/** An overlay that expires within this time is sent again: the question has to be answered before. */
const SPARE_MS = 5 * 60_000;

/** The service's index of a repository with the edits of a work tree on top. */
interface Sent {
  scope: Scope;
  base: string;
  /** Hash of the edits. */
  edits: string;
  untilMs: number;
}

/**
 * The edits of a work tree, which are sent to the service on top of the nearest indexed commit of the one that is checked out and those that
 * it shares with the tracked and the default branch. The same edits are sent once, until they expire.
 */
export class WorkTreeEdits {
  readonly #client: CodeContextClient;
  readonly #root: string;
  readonly #repo: string;
  readonly #call: CallOptions;
  #sent: Sent | undefined;
  /** The previous call; they run one after another, so that none sends what another one is sending. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(client: CodeContextClient, root: string, repo: string, call: CallOptions) {
    this.#client = client;
    this.#root = root;
    this.#repo = repo;
    this.#call = call;
  }

  /**
   * Where to ask about the work tree as it is. Throws `CliError` (`NO_INDEX`) if no commit that it is based on is indexed, what `editsOf`
   * throws, and `CodeContextError` as the client does.
   */
  send(): Promise<Sent> {
    const next = this.#last.then(() => this.#send());
    this.#last = next.catch(() => undefined);
    return next;
  }

  /** Forgets an overlay that the service does not have any more. */
  forget(sent: Sent): void {
    if (this.#sent === sent) this.#sent = undefined;
  }

  async #send(): Promise<Sent> {
    const bases = await basesOf(this.#root);
    const sent = this.#sent;
    // A nearer commit that was not indexed is not asked for again with each question.
    if (sent && bases.includes(sent.base) && sent.untilMs > Date.now()) {
      const files = await editsOf(this.#root, sent.base).catch(() => undefined);
      if (files && hashOf(files) === sent.edits) return sent;
    }
    for (const base of bases) {
      const files = await editsOf(this.#root, base);
      try {
        const { overlay, expiresAt } = await this.#client.createOverlay({ repo: this.#repo, base, files }, this.#call);
        const untilMs = Date.parse(expiresAt) - SPARE_MS;
        return (this.#sent = { scope: { repo: this.#repo, overlay }, base, edits: hashOf(files), untilMs });
      } catch (error) {
        if (!(error instanceof CodeContextError) || error.code !== "NO_INDEX") throw error;
      }
    }
    throw new CliError(
      EXIT.notFound,
      "NO_INDEX",
      `no commit that the work tree is based on is indexed on the service: index ${this.#repo} (codectx index)`,
    );
  }
}

/** Commits that the work tree is based on, the nearest first. */
async function basesOf(root: string): Promise<string[]> {
  const shared = ["@{upstream}", "origin/HEAD"].map((name) => gitLine(root, ["merge-base", "HEAD", name]));
  const bases = await Promise.all([resolveCommit(root), ...shared]);
  return [...new Set(bases.filter((base) => base !== undefined))];
}

const hashOf = (files: object): string => sha256(Buffer.from(JSON.stringify(files))).toString("hex");

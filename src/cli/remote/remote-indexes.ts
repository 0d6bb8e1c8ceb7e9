import { GREP, type Parameters, type Request } from "../../contract/questions.ts";
import type { CodeContextClient } from "../../interface/client/client.ts";
import { CodeContextError } from "../../interface/client/errors.ts";
import type { CallOptions } from "../../interface/client/transport.ts";
import { fromRoot } from "../../interface/questions/answer.ts";
import type { Answered, Question, RepoInfo, Scope } from "../../interface/questions/code-index.ts";
import { grep } from "../../interface/questions/exact.ts";
import { endingWith } from "../../lib/near-repo.ts";
import { normalizeRepo } from "../../lib/repo.ts";
import { createClient, credentialsOf, requireApiKey, type Context } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import type { ServedIndex } from "../local-index/late-index.ts";
import { findWorkTreeProject, requireRepo } from "../project.ts";
import { RemoteIndex } from "./remote-index.ts";
import { WorkTreeEdits } from "./work-tree-edits.ts";

/** The work tree that the questions come from. */
interface Here {
  /** With `/` between. */
  root: string;
  repo: string;
  /** Set if its edits are sent. */
  edits: WorkTreeEdits | undefined;
}

/** Filters out every path. */
const NO_PATHS = ["!**"];

/**
 * The service's indexes, as a coding agent asks them from a work tree: without a repository that one's, outside of a work tree all that
 * the key may read. With edits, each question about the work tree's repository first sends what has changed in the work tree.
 */
export class RemoteIndexes implements ServedIndex {
  readonly #index: RemoteIndex;
  readonly #here: Here | undefined;
  readonly #requests = new Set<Promise<unknown>>();

  constructor(index: RemoteIndex, here: Here | undefined) {
    this.#index = index;
    this.#here = here;
  }

  get waiting(): number {
    return this.#requests.size;
  }

  /** Nothing is indexed here. */
  onIndexing(): () => void {
    return () => undefined;
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.#requests);
  }

  /** Throws what `WorkTreeEdits.send` throws, and `CodeContextError` as the client does. */
  async ask<P extends Parameters, Answer extends object>(
    question: Question<P, Answer>,
    scope: Scope,
    request: Request<P>,
  ): Promise<Answered<Answer>> {
    const asked = this.#ask(question, scope, fromRoot(this.#here?.root, request));
    this.#requests.add(asked);
    try {
      return await asked;
    } finally {
      this.#requests.delete(asked);
    }
  }

  /** All repositories that the key may read: an answer names those that were asked, also one that finds nothing. */
  async repos(): Promise<RepoInfo[]> {
    const { limit, offset, context } = GREP;
    const request = { pattern: "x", paths: NO_PATHS, limit: limit.min, offset: offset.min, context: context.min };
    return [...(await this.#index.ask(grep, {}, request)).indexes];
  }

  async warmUp(): Promise<void> {
    await this.#here?.edits?.send().catch(() => undefined);
  }

  async #ask<P extends Parameters, Answer extends object>(
    question: Question<P, Answer>,
    scope: Scope,
    request: Request<P>,
  ): Promise<Answered<Answer>> {
    const here = this.#meant(scope);
    if (!here) return this.#index.ask(question, scope, request);
    if (!here.edits) return this.#index.ask(question, { ...scope, repo: here.repo }, request);
    const sent = await here.edits.send();
    try {
      return await this.#index.ask(question, sent.scope, request);
    } catch (error) {
      // The service ends the oldest overlays of a team that makes many.
      if (!(error instanceof CodeContextError) || error.code !== "NO_INDEX") throw error;
      here.edits.forget(sent);
      return this.#index.ask(question, (await here.edits.send()).scope, request);
    }
  }

  /** The work tree, if the question is about it as it is. */
  #meant({ repo, workspaceId, ref, overlay }: Scope): Here | undefined {
    const here = this.#here;
    if (!here || workspaceId !== undefined || overlay !== undefined) return undefined;
    if (repo !== undefined && normalizeRepo(repo) !== here.repo && endingWith(repo, [here.repo]).length === 0)
      return undefined;
    return ref === undefined ? here : { ...here, edits: undefined };
  }
}

/** Opens the service's indexes for `codectx mcp --remote`. Throws `CliError` without a key, and with `edits` outside of a work tree. */
export async function openRemoteIndexes(context: Context, edits: boolean): Promise<RemoteIndexes> {
  const credentials = credentialsOf(context);
  const client: CodeContextClient = await createClient(context, { ...credentials, apiKey: requireApiKey(credentials) });
  const call: CallOptions = { signal: context.stop };
  const index = new RemoteIndex(client, call);
  const project = await findWorkTreeProject(context);
  if (edits && !project)
    throw new CliError(
      EXIT.usage,
      "NOT_A_REPOSITORY",
      `--edits is for the repository of a work tree, and ${context.cwd} is not in one`,
    );
  if (!project || (project.repo === undefined && !edits)) return new RemoteIndexes(index, undefined);
  const repo = requireRepo(project, undefined);
  return new RemoteIndexes(index, {
    root: project.root.replaceAll("\\", "/"),
    repo,
    edits: edits ? new WorkTreeEdits(client, project.root, repo, call) : undefined,
  });
}

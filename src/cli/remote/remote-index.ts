import type { CodeContextClient } from "../../interface/client/client.ts";
import type { CallOptions } from "../../interface/client/transport.ts";
import type { Asked, Parameters, Request } from "../../contract/questions.ts";
import type {
  DefinitionResponse,
  FileResponse,
  OutlineResponse,
  SearchedIndex,
  SearchResponse,
  SymbolsResponse,
} from "../../contract/search.ts";
import type { ImpactResponse, PathResponse, ReferencesResponse } from "../../contract/relations.ts";
import type { CoverageResponse, FilesResponse, GrepResponse } from "../../contract/exact.ts";
import type { Answered, CodeIndex, IndexInfo, Question, Scope } from "../../interface/questions/code-index.ts";
import { hostedInfo } from "../../interface/questions/http.ts";

/** An index of the service, with all that the service says of it. */
type RemoteInfo = IndexInfo & SearchedIndex;

interface Answers {
  search: SearchResponse;
  symbols: SymbolsResponse;
  references: ReferencesResponse;
  definition: DefinitionResponse;
  path: PathResponse;
  impact: ImpactResponse;
  outline: OutlineResponse;
  file: FileResponse;
  grep: GrepResponse;
  coverage: CoverageResponse;
  files: FilesResponse;
}

/** What an answer of the service holds, as the questions give it. `revision` is the position of its index. */
const READERS: { [N in keyof Answers]: (answer: Answers[N]) => object } = {
  search: ({ results, indexes, ...rest }) => ({ ...rest, results: withRevisions(results, indexes) }),
  symbols: ({ symbols, indexes, ...rest }) => ({ ...rest, symbols: withRevisions(symbols, indexes) }),
  references: ({ references, indexes, ...rest }) => ({
    ...rest,
    references: withRevisions(references, indexes).map((each) => {
      const { target } = each;
      return target?.workspaceId === undefined
        ? each
        : Object.assign(each, { target: withRevisions([target], indexes)[0] });
    }),
  }),
  definition: ({ definitions, indexes, ...rest }) => ({
    ...rest,
    revision: 0,
    definitions: withRevisions(definitions, indexes),
  }),
  path: ({ paths, indexes, ...rest }) => ({
    ...rest,
    revision: 0,
    paths: paths.map((steps) => withRevisions(steps, indexes)),
  }),
  impact: ({ dependents, tests, indexes, ...rest }) => ({
    ...rest,
    revision: 0,
    dependents: withRevisions(dependents, indexes),
    tests: withRevisions(tests, indexes),
  }),
  outline: ({ outline, ...rest }) => ({ ...rest, symbols: outline, revision: 0 }),
  file: (lines) => ({ ...lines, revision: 0 }),
  // An earlier service names neither gaps nor files with withheld lines.
  grep: ({ matches, files, gaps = [], withheldIn = [], indexes, ...rest }) => ({
    ...rest,
    matches: withRevisions(matches, indexes).map((match) => Object.assign({ byteRanges: byteRangesOf(match) }, match)),
    ...(files && { files: withRevisions(files, indexes) }),
    gaps: withRevisions(gaps, indexes),
    withheldIn: withRevisions(withheldIn, indexes),
  }),
  coverage: (answer) => ({ ...answer, revision: 0 }),
  files: (answer) => ({ ...answer, revision: 0 }),
};

/** Rows without a workspace are of the first index. */
function withRevisions<T extends { workspaceId?: string | undefined }>(
  rows: readonly T[],
  indexes: readonly SearchedIndex[],
) {
  const positions = new Map(indexes.map(({ workspaceId }, position) => [workspaceId, position]));
  return rows.map((row) => Object.assign({ revision: positions.get(row.workspaceId ?? "") ?? 0 }, row));
}

/** Columns in bytes; of a line that is not shown from its beginning as they are. */
function byteRangesOf({ text, textStart, ranges }: GrepResponse["matches"][number]): number[][] {
  if (textStart !== undefined) return ranges;
  return ranges.map((range) => range.map((column) => Buffer.byteLength(text.slice(0, column - 1)) + 1));
}

/** The hosted indexes that an API key may ask, through the service. */
export class RemoteIndex implements CodeIndex<RemoteInfo> {
  readonly #client: CodeContextClient;
  readonly #call: CallOptions;

  constructor(client: CodeContextClient, call: CallOptions) {
    this.#client = client;
    this.#call = call;
  }

  /** Throws `CodeContextError` as the client does. The service applies the question's rules. */
  async ask<P extends Parameters, Answer extends object>(
    question: Question<P, Answer>,
    scope: Scope,
    request: Request<P>,
  ): Promise<Answered<Answer, RemoteInfo>> {
    const name = question.name as keyof Answers;
    const ask = this.#client[name].bind(this.#client) as (
      asked: Scope & Asked<P>,
      call: CallOptions,
    ) => Promise<Answers[typeof name]>;
    const answer = await ask({ ...scope, ...request }, this.#call);
    const read = READERS[name] as (answer: Answers[typeof name]) => Answer;
    const leftOut = "leftOut" in answer ? answer.leftOut : undefined;
    return {
      ...read(answer),
      ...(leftOut && { leftOut }),
      indexes: answer.indexes.map((index) => hostedInfo(index, scope.overlay !== undefined)),
      digest: answer.indexes[0]?.digest ?? "",
    };
  }
}

import { join } from "node:path";
import type { Parameters, Request } from "../contract/questions.ts";
import { answerFrom } from "../interface/questions/answer.ts";
import { type Answered, InvalidFieldError, NotFoundError, type Question } from "../interface/questions/code-index.ts";
import type { Hosted } from "../interface/questions/http.ts";
import type { Context } from "./context.ts";
import { CliError, EXIT, oneLine } from "./exit-codes.ts";
import type { LocalInfo } from "./local-index/local-indexes.ts";
import { noteSubmodules } from "./submodules.ts";
import { showPaged } from "./terminal/pager.ts";
import type { Project } from "./project.ts";
import { typedName } from "./request.ts";
import { RemoteIndex } from "./remote/remote-index.ts";
import { remoteIndex, type RemoteOption } from "./remote/remote-search.ts";

/** An answer for a command to show. */
export interface CommandAnswer<Answer> {
  answer: Answered<Answer, LocalInfo | Hosted>;
  /** Work tree of the paths; undefined for a hosted index. */
  root: string | undefined;
}

interface AskOptions<P extends Parameters, Answer extends object> {
  /** Flags that name the index: the work tree's without them. */
  options: RemoteOption;
  /** Makes the request, once it is known where the paths are from; undefined outside of a work tree. */
  request: (project: Project | undefined) => Request<P>;
  /** The error of an answer that does not have what was asked for. */
  missing?: (answer: Answer) => Error | undefined;
  /** Parameters whose value comes from an option of another name, by their own. */
  typed?: Readonly<Record<string, string>>;
  /** Answers for a work tree whose index does not have what is asked for. */
  otherwise?: (project: Project, error: NotFoundError) => Promise<Answer>;
}

/** Asks a question for a command. Throws `CliError` if nothing is found (exit code 4), and what the index throws. */
export async function ask<P extends Parameters, Answer extends object>(
  context: Context,
  question: Question<P, Answer>,
  { options, request, missing, typed, otherwise }: AskOptions<P, Answer>,
): Promise<CommandAnswer<Answer>> {
  const checked = <A extends Answered<Answer>>(answer: A): A => {
    const error = missing?.(answer);
    if (!error) return answer;
    noteSubmodules(context, answer.indexes);
    throw error;
  };
  const remote = await remoteIndex(context, options);
  if (remote) {
    const { client, call, scope, project } = remote;
    const answer = await new RemoteIndex(client, call).ask(question, scope, request(project));
    return { answer: checked(answer), root: undefined };
  }
  const { ref } = options;
  const [{ openIndexes }, { withLocalIndex }] = await Promise.all([
    import("./local-index/local-indexes.ts"),
    import("./local-index/local-search.ts"),
  ]);
  return withLocalIndex(
    context,
    async (index, project) => {
      const opened = openIndexes(index);
      const answer = await answerFrom(opened, question, request(project)).catch(async (error: unknown) => {
        if (error instanceof InvalidFieldError) throw invalidAsTyped(error, question.parameters, typed);
        if (error instanceof NotFoundError && error.field === "name") noteSubmodules(context, opened.indexes);
        if (!(error instanceof NotFoundError) || ref !== undefined) throw error;
        const { explainMissing } = await import("./missing-path.ts");
        const explained = await explainMissing(project, error);
        if (explained || !otherwise) throw explained ?? error;
        return { ...(await otherwise(project, error)), indexes: opened.indexes, digest: await opened.digest() };
      });
      return { answer: checked(answer), root: project.root };
    },
    { ref },
  );
}

/** An error that names the argument or option, not the parameter. */
function invalidAsTyped(
  error: InvalidFieldError,
  parameters: Parameters,
  typed: Readonly<Record<string, string>> = {},
): CliError {
  const { field, code, problem } = error;
  const parameter = parameters[field];
  const name = typed[field] ?? (parameter ? typedName(field, parameter) : field);
  return new CliError(EXIT.usage, code, oneLine(`${name}: ${problem}`), { cause: error });
}

/**
 * Prints an answer: as text, or as the JSON document of the HTTP route. An answer of a work tree lacks the fields that only hosted
 * indexes have.
 */
export async function show<Answer extends object>(
  context: Context,
  { answer }: CommandAnswer<Answer>,
  document: (answer: Answered<Answer, Hosted>) => { ok: true; indexes: readonly object[] },
  text: () => readonly string[],
): Promise<void> {
  const { ok: _, indexes, ...rest } = document(answer as Answered<Answer, Hosted>);
  const [index, ...others] = answer.indexes;
  const { digest } = answer;
  const from =
    index && "state" in index
      ? { ...index.state, digest }
      : { gitSha: others.length === 0 ? (index?.gitSha ?? null) : null, indexes };
  await showPaged(context, { ...from, ...rest }, text);
}

/** The place of a line for a terminal: linked in a work tree, with its repository where an answer has several. */
export function placeText<A extends object>(
  { ui }: Context,
  { answer, root }: CommandAnswer<A>,
  { revision, path, line }: { revision: number; path: string; line: number },
): string {
  const owner = answer.indexes.length > 1 ? `${answer.indexes[revision]?.name} ` : "";
  const text = `${owner}${ui.style("cyan", `${path}:${line}`)}`;
  return root === undefined ? text : ui.link(join(root, path), text);
}

/** The error of an answer without anything in it. */
export function nothingFound(message: string): CliError {
  return new CliError(EXIT.notFound, "NOT_FOUND", message);
}

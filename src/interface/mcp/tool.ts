/** How a question becomes a tool: its parameters, its refusals of what it does not know, and its text. */
import * as z from "zod";
import { Uuid } from "../../contract/indexing.ts";
import { toolShape } from "../../contract/parameters.ts";
import { type Parameter, type Parameters, type Request, SEARCH } from "../../contract/questions.ts";
import { selector } from "../../contract/search.ts";
import { visibleAnswer } from "../../lib/display.ts";
import { nearName } from "../../lib/near-name.ts";
import {
  type Answered,
  type CodeIndex,
  nothingIndexed,
  type Question,
  type RepoList,
  type Scope,
} from "../questions/code-index.ts";
import { type AnswerOptions, FRAME_TOKENS } from "./answer-frame.ts";

const MAX_TOKENS = SEARCH.maxTokens;

const repo = selector.repo.describe(
  "github.com/owner/name, as in list_repos. Default: all, or the work tree that you are in.",
);
const oneRepo = repo.describe("As in list_repos. Needed where there are several and you are in none.");
const ref = selector.ref.describe("Indexed branch, tag, commit or overlay. Default: the current one.");
export const maxTokens = z.int().min(MAX_TOKENS.min).max(MAX_TOKENS.max).default(MAX_TOKENS.default);

/** What a tool runs with. */
interface ToolContext {
  index: CodeIndex & RepoList;
  nowMs: number;
}

/** A tool: its texts for the model, its parameters, and the function that answers. */
export interface Tool {
  /** At most 32 characters, since clients add the server's name to it. */
  name: string;
  title: string;
  /** At most 2 KB, where clients cut it. */
  description: string;
  input: z.ZodObject;
  /** `input` is what the schema has parsed. */
  run: (context: ToolContext, input: Record<string, unknown>) => Promise<string>;
}

interface QuestionTool<P extends Parameters, Answer extends object> extends Omit<Tool, "input" | "run"> {
  question: Question<P, Answer>;
  /** Set if the answer comes from one repository. */
  isOfOne?: boolean;
  text: (answer: Answered<Answer>, options: AnswerOptions, request: Request<P>) => string;
}

/** Unknown parameters that an error names. */
const MAX_NAMED = 3;

/** A tool's parameters. Unknown ones are refused, because a model that misspells one would not see that it had no effect. */
export function strict(shape: Record<string, z.ZodType>): z.ZodObject {
  const names = Object.keys(shape);
  return z.strictObject(shape, {
    error: ({ code, keys }) => {
      if (code !== "unrecognized_keys") return undefined;
      const unknown = keys.slice(0, MAX_NAMED).map((key) => {
        const near = nearName(key, names);
        return `unknown parameter ${key.slice(0, 60)}${near === undefined ? "" : `, did you mean ${near}?`}`;
      });
      return `${unknown.join("; ")}; known are ${names.join(", ")}`;
    },
  });
}

/** A tool that asks a question: its parameters are the question's, and where to ask. */
export function questionTool<P extends Parameters, Answer extends object>(definition: QuestionTool<P, Answer>): Tool {
  const { question, isOfOne, text, ...described } = definition;
  const names = Object.entries<Parameter>(question.parameters).filter(([, { notOn }]) => !notOn?.includes("tool"));
  const shape: Readonly<Record<string, z.ZodType>> = toolShape(question.parameters);
  const own = names.map(([name, { tool }]) => [tool ?? snakeCase(name), shape[name]]);
  return {
    ...described,
    input: strict({ ...Object.fromEntries(own), repo: isOfOne ? oneRepo : repo, ref, max_tokens: maxTokens }),
    run: async ({ index, nowMs }, input) => {
      const asked = Object.fromEntries(names.map(([name, { tool }]) => [name, input[tool ?? snakeCase(name)]]));
      // Results come in the length that the answer has room for.
      if ("maxTokens" in asked) asked["maxTokens"] = Number(input["max_tokens"]) - FRAME_TOKENS;
      const request = asked as Request<P>;
      const answer = await index.ask(question, scopeOf(input), request);
      if (answer.indexes.length === 0) throw nothingIndexed();
      return text(visibleAnswer(answer), { maxTokens: Number(input["max_tokens"]), nowMs }, visibleAnswer(request));
    },
  };
}

/** A workspace without a repository is named by its id, edits on top of a revision by that of their overlay. */
function scopeOf({ repo, ref }: Scope): Scope {
  const revision = Uuid.safeParse(ref).success ? { overlay: ref } : { ref };
  return Uuid.safeParse(repo).success ? { workspaceId: repo, ...revision } : { repo, ...revision };
}

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

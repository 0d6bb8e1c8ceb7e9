/** Names under which Ruby's constants and members are recorded. */
import type { Expression } from "./expressions.ts";
import type { Meaning } from "./types.ts";

const PROGRAM = "ruby:";
const BETWEEN = "|";
/** Enclosing modules in which a constant is looked up, at most. */
const MAX_NESTING = 10;

/** A constant that is looked up in its enclosing modules, the innermost first. */
export const constantIn = (nesting: readonly string[], name: string): Expression => ({
  is: "import",
  module: PROGRAM + nesting.slice(0, MAX_NESTING).join(BETWEEN),
  name,
});

export const isRubyProgram = (module: string): boolean => module.startsWith(PROGRAM);

/** The enclosing modules that were passed to `constantIn`. */
export const nestingOf = (module: string): string[] =>
  module
    .slice(PROGRAM.length)
    .split(BETWEEN)
    .filter((each) => each !== "");

/** What a receiver or `self` is: an instance of a class, or the class itself. */
export type Level = "-" | "+";

/** Key of a method or, with its `@`, of an instance variable. Names of other languages do not begin like this. */
export const memberKey = (level: Level, name: string): string => level + name;

/** Key of what `super` calls in a method. */
export const superKey = (level: Level, name: string): string => `super${level}${name}`;

export const isRubyKey = (name: string): boolean => /^(?:super)?[-+]/.test(name);

/** Whether a use is a `super` of Ruby. */
export const isSuperOfRuby = (meaning: Meaning): boolean => meaning.to === "member" && /^super[-+]/.test(meaning.name);

/** The parts of a key. */
export function splitKey(key: string): { isSuper: boolean; level: Level; name: string } {
  const isSuper = key.startsWith("super");
  const rest = isSuper ? key.slice("super".length) : key;
  return { isSuper, level: rest.startsWith("+") ? "+" : "-", name: rest.slice(1) };
}

/** Key of the binding for a method that is defined outside of classes. */
export const functionKey = (name: string): string => `${name}()`;

// Keys of members that record what a class inherits from. No identifier has a space.
export const SUPERCLASS = "class below";
export const IS_MODULE = "is module";
export const EXTENDED = "extended by ";
export const PREPENDED = "prepended by ";

/** The last name of a constant's path. */
export const lastOfPath = (path: string): string => path.slice(path.lastIndexOf(":") + 1);

/** Files of a program of Ruby. */
const RUBY_FILE =
  /(?:\.(?:rb|rake|gemspec|ru|podspec|rbi|jbuilder)|(?:^|\/)(?:rake|gem|guard|pod|fast|vagrant|brew|cap)file)$/i;

/** Methods of the class of a job that call its `perform` some time. */
export const JOB_CALLS: ReadonlySet<string> = new Set([
  "perform_later",
  "perform_now",
  "perform_async",
  "perform_in",
  "perform_at",
]);

/** Modules of Rails whose methods all templates have. */
export const isHelper = (path: string): boolean => path.endsWith(".rb") && /(?:^|\/)app\/helpers\//.test(path);
/** Whether `self` has the methods of all helpers in a file: in a template, and in a helper that templates use. */
export const seesHelpers = (path: string): boolean =>
  /\.(?:erb|rhtml|haml|slim|jbuilder)$/.test(path) || isHelper(path);

export const isRubyFile = (path: string): boolean => RUBY_FILE.test(path);

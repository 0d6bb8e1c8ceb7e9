/** What leads to a function or class besides the uses that the rules of its language know: a decorator that registers it, or a text that names it. */
import { hasUses, isPythonLanguage, isScriptLanguage, mayCall } from "../../../engines/relations/languages.ts";
import { folderOf } from "../../../engines/relations/modules.ts";
import type { DefinedSymbol, QuestionFiles } from "../../../engines/relations/question-files.ts";
import { lastPart, nameParts } from "../../../engines/search/names.ts";
import { wordSet } from "../../../lib/word-set.ts";
import { distinct, type FoundUse, isFunction, placeKey, symbolKey, targetOf } from "./found.ts";
import { filesThatMayCall, rangesOf, usesByName } from "./mentioning.ts";
import { hasWords, isPartOfName, occurrencesOf } from "./occurrences.ts";

/** More definitions are not looked at. */
const MAX_DEFINITIONS = 20;
/** Languages whose programs look no function up by a text; in C and C++ most functions have a declaration that nothing uses. */
const COMPILED = wordSet("c cpp yacc lex go zig");
/** Lines above a definition on which its decorators are looked for. */
const MAX_LINES = 40;

/**
 * What leads to the functions and classes among some definitions besides uses.
 *
 * By name: lines of data and configurations that name a function with its class or file, as `app.cli:main` and `controllers.Home.index` do, or
 * as the value of an attribute. For a function or class that no use leads to also the decorators or annotations that hand it to a framework, as
 * `likely`, and by name such strings in code (`"users#show"`), the lines of routes, and those that use a class otherwise.
 *
 * @param known uses that are found already
 */
export async function registrations(
  files: QuestionFiles,
  definitions: readonly DefinedSymbol[],
  known: readonly FoundUse[],
): Promise<FoundUse[]> {
  const used = new Set(known.flatMap(({ target }) => (target ? [placeKey(target)] : [])));
  const isUnused = (each: DefinedSymbol): boolean =>
    !used.has(symbolKey(each)) && !COMPILED.has(files.language(each.path));
  const functions = definitions.filter(isFunction);
  const classes = definitions.filter((each) => isClass(each) && isUnused(each));
  if (functions.length > MAX_DEFINITIONS || classes.length > MAX_DEFINITIONS) return [];
  const unused = functions.filter(isUnused);
  const found = [
    ...(await decorators(files, [...unused, ...classes])),
    ...(await namingLines(files, [...functions, ...classes], unused.length + classes.length > 0)),
    ...(await routes(files, [...unused, ...classes])),
    ...(await usesOfClasses(files, classes)),
  ];
  const isKnown = new Set(known.map(placeKey));
  return distinct(found.filter((use) => !isKnown.has(placeKey(use))));
}

/** Classes, and objects of Kotlin and Scala, which have members without being constructed. Resources of Terraform are called so too. */
const isClass = ({ kind, path }: DefinedSymbol): boolean =>
  kind === "class" || (kind === "object" && /\.(?:kts?|scala)$/.test(path));

/** The lines of the decorators of definitions. */
async function decorators(files: QuestionFiles, definitions: readonly DefinedSymbol[]): Promise<FoundUse[]> {
  const ranges: { path: string; first: number; last: number }[] = [];
  for (const { path, startLine } of definitions) {
    // What stands above the definition before belongs to that one.
    const before = (await files.definitionsIn(path)).map(({ endLine }) => (endLine < startLine ? endLine + 1 : 1));
    const first = before.reduce((latest, line) => Math.max(latest, line), Math.max(1, startLine - MAX_LINES));
    ranges.push({ path, first, last: startLine });
  }
  const lines = await rangesOf(files, ranges);
  return definitions.flatMap((each, i): FoundUse[] => {
    const decorator = decoratorOf(files.language(each.path));
    const registering = decorator ? registeringLines(lines[i] ?? [], decorator, each.kind) : [];
    const target = targetOf(each);
    return registering.map((line) => ({ path: each.path, line, certainty: "likely", distance: 1, target }));
  });
}

/** A decorator or annotation at the start of a line: `@app.route("/")`. */
const DECORATOR = /^@([A-Za-z_][\w.]*)/;
/** Languages that write them in this way. */
const DECORATED = wordSet("java kotlin scala swift dart groovy");
/** As others write them: `[HttpGet("x")]`, `#[get("/")]`. */
const DECORATORS: Readonly<Record<string, RegExp>> = {
  csharp: /^\[(?:\w+:\s*)?([A-Za-z_][\w.]*)/,
  rust: /^#\[([A-Za-z_][\w:]*)/,
  php: /^#\[\\?([A-Za-z_][\w\\]*)/,
  elixir: /^@(impl)\b/,
};

function decoratorOf(language: string): RegExp | undefined {
  const isPlain = DECORATED.has(language) || isPythonLanguage(language) || isScriptLanguage(language);
  return isPlain ? DECORATOR : DECORATORS[language];
}

/** Decorators that describe a class and register it nowhere, by the last part of their names in small letters. */
const PASSIVE_OF_CLASSES = wordSet(
  `data value builder slf4j log4j2 log tostring equalsandhashcode with noargsconstructor allargsconstructor
   requiredargsconstructor functionalinterface accessors jsoninclude jsonignoreproperties dataclass total_ordering
   runtime_checkable serializable debuggerdisplay attributeusage excludefromcodecoverage main objc objcmembers
   propertywrapper resultbuilder sealed attribute`,
);

/** As `PASSIVE_OF_CLASSES`, of functions as well. */
const PASSIVE = wordSet(
  `override overload property staticmethod classmethod abstractmethod cached_property setter deleter getter wraps final
   nullable nonnull notnull deprecated suppress suppresswarnings suppresslint safevarargs jvmstatic jvmoverloads jvmname
   throws inline must_use cfg allow warn expect derive doc cold track_caller inlinable discardableresult available
   mainactor viewbuilder pure obsolete methodimpl conditional visiblefortesting contract checkreturnvalue composable
   requiresapi transactional async nonisolated protected internal readonly mustcallsuper immutable typing spec moduledoc
   param return returns throw see since type lru_cache cache contextmanager asynccontextmanager singledispatch
   instrument jit njit input output`,
);

/** The lines of the decorators above the last of some lines, and on it. */
function registeringLines(lines: readonly { line: number; text: string }[], decorator: RegExp, kind: string): number[] {
  const isPassive = (name: string): boolean => PASSIVE.has(name) || (kind === "class" && PASSIVE_OF_CLASSES.has(name));
  const found: number[] = [];
  for (const [i, { line, text }] of lines.toReversed().entries()) {
    const name = decorator
      .exec(text)?.[1]
      ?.split(/[.:\\]/)
      .at(-1);
    if (name !== undefined) {
      if (!isPassive(name.toLowerCase())) found.unshift(line);
    } else if (i > 0 && (text === "" || /[;{}:]$/.test(text))) break;
  }
  return found.slice(0, MAX_DECORATORS);
}

const MAX_DECORATORS = 4;

/**
 * The lines that name one of some definitions with its class or file, in data, and `inCode` also in quotes. A class whose name consists of
 * several words may be named alone: `class: NightlyJob`.
 */
async function namingLines(
  files: QuestionFiles,
  definitions: readonly DefinedSymbol[],
  inCode: boolean,
): Promise<FoundUse[]> {
  const owners = new Map<string, Set<string>>();
  for (const each of definitions) {
    const own = owners.get(each.name) ?? new Set();
    for (const owner of ownersOf(each)) own.add(owner);
    owners.set(each.name, own);
  }
  const alone = new Set(definitions.flatMap((each) => (isClass(each) && hasWords(each.name) ? each.name : [])));
  const wanted: { name: string; paths: Set<string> }[] = [];
  for (const [name, own] of owners) {
    const naming = await files.mentioning(name);
    const isOfOwner = new Set<string>();
    for (const owner of own) for (const { path } of await files.mentioning(owner)) isOfOwner.add(path);
    const isRead = (language: string): boolean =>
      DATA.has(language) || (mayCall(language) && (inCode || !hasUses(language)));
    const paths = naming.filter(
      ({ path, language }) => isRead(language) && (isOfOwner.has(path) || ATTRIBUTES.has(language) || alone.has(name)),
    );
    wanted.push({ name, paths: new Set(paths.slice(0, MAX_FILES).map(({ path }) => path)) });
  }
  const found = await usesByName(files, wanted, ({ path, text }, name) => {
    const language = files.language(path);
    if (ATTRIBUTES.has(language) && isAttribute(text, name)) return true;
    if (alone.has(name) && isWholeValue(text, name, DATA.has(language))) return true;
    return namesMember(text, name, owners.get(name) ?? new Set(), !hasUses(language));
  });
  return found.flat();
}

/** The actions of controllers that a route of a resource names together. */
const ACTIONS = new Set(["index", "show", "new", "create", "store", "edit", "update", "destroy"]);

/**
 * The lines of routes that lead to actions of controllers, of Rails and Laravel, without naming the controller or without the action; of a
 * controller of Rails those that lead to any of its actions.
 */
async function routes(files: QuestionFiles, definitions: readonly DefinedSymbol[]): Promise<FoundUse[]> {
  const actions = definitions.filter((each) => (isClass(each) ? each.name : controllerOf(each)).endsWith("Controller"));
  if (actions.length === 0) return [];
  const found: FoundUse[] = [];
  const paths = new Set(
    files.paths.filter((path) => /(?:^|\/)(?:config\/routes(?:\/.*)?|routes\/\w+)\.(?:rb|php)$/.test(path)),
  );
  for (const each of paths.size === 0 ? [] : actions) {
    const isRails = each.path.endsWith("_controller.rb");
    const resource = isRails ? stemOf(each.path).slice(0, -"_controller".length) : controllerOf(each);
    const isWhole = isClass(each);
    if (isWhole && !isRails) continue;
    const asked = [
      ...(isRails && !isWhole ? [each.name] : []),
      ...(isWhole || ACTIONS.has(each.name) ? [resource] : []),
    ];
    const wanted = asked.map((name) => ({ name, paths }));
    const lines = await usesByName(files, wanted, ({ text }, name) =>
      name === resource
        ? isResource(text) || (isWhole && hasAction(text, name))
        : isQuoted(text, name) && (!isResource(text) || text.includes(resource)),
    );
    found.push(...lines.flat());
  }
  return found;
}

/** The lines that use a class otherwise than by constructing it, of which no uses tell. */
async function usesOfClasses(files: QuestionFiles, classes: readonly DefinedSymbol[]): Promise<FoundUse[]> {
  const wanted: { name: string; paths: Set<string> }[] = [];
  for (const { name, path } of classes) {
    const reading = (await filesThatMayCall(files, name, [path])).filter(({ language }) => hasUses(language));
    wanted.push({ name, paths: new Set(reading.slice(0, MAX_FILES).map((each) => each.path)) });
  }
  const lines = wanted.length === 0 ? [] : await usesByName(files, wanted, ({ text }, name) => usesClass(text, name));
  return lines.flat();
}

/** Comments, imports and declarations. */
const NAMES_ONLY =
  /^(?:#(?!\{)|\/\/|\/?\*|(?:from|import|using|use|package|require|export \{|def|async def|except|rescue)\b|(?:\w+ ){0,4}(?:class|interface|module)\b)|\bis(?:instance|subclass)\(/;

/**
 * Whether a line has a class as an argument or element, as the type of a call (`Add<Home>()`), raises it, or has a member of it: `Home.create()`,
 * `Home::class`, `HomeView.as_view()`. Those of types, bases and imports are none.
 */
export function usesClass(text: string, name: string): boolean {
  if (NAMES_ONLY.test(text)) return false;
  return occurrencesOf(text, name).some(
    ({ before, after }) =>
      !isPartOfName(before.at(-1)) &&
      (/^(?:\.|::)\w/.test(after) ||
        /\braise\s+$/.test(before) ||
        (/\w<(?:[\w.?]{1,100}, ?){0,5}(?:\w{1,60}\.){0,5}$/.test(before) &&
          /^(?:, ?[\w.?]{1,100}){0,5}>{1,5}\(/.test(after)) ||
        (/(?:^|[(,=]\s*|[\s(,=]\[)(?:\w{1,60}(?:\.|::)){0,5}$/.test(before) && /^\s*(?:[,)\]}]|$)/.test(after))),
  );
}

/** The class around a method. */
const controllerOf = ({ qualifiedName }: DefinedSymbol): string => nameParts(qualifiedName).at(-2) ?? "";

const isResource = (text: string): boolean => /\bresources?\b|\bapiResources?\b/.test(text);

/** Whether a line has a controller of Rails with an action: `"users#show"`, `"admin/users#show"`. */
const hasAction = (text: string, controller: string): boolean =>
  occurrencesOf(text, controller).some(({ before, after }) => /["'/]$/.test(before) && /^#\w/.test(after));

/** Whether a line has a name as a text or symbol of Ruby: `"show"`, `:show`. */
const isQuoted = (text: string, name: string): boolean =>
  occurrencesOf(text, name).some(({ before }) => /["':]$/.test(before));

/** Whether a name is a whole value on a line: a text of code, also a value without quotes in data. */
const isWholeValue = (text: string, name: string, isData: boolean): boolean =>
  occurrencesOf(text, name).some(
    ({ before, after }) =>
      (/["']$/.test(before) && /^["']/.test(after)) ||
      (isData && /(?:[:=]\s{0,20}|^-\s{1,20})$/.test(before) && /^\s*(?:[,}\]]|$)/.test(after)),
  );

/** Whether a line has a name as the value of an attribute, as handlers are named in XAML, layouts of Android, storyboards and scenes of Godot; names and ids are of what has the attribute, but in manifests of Android. */
const isAttribute = (text: string, name: string): boolean =>
  occurrencesOf(text, name).some(
    ({ before, after }) =>
      (/(?<!\b(?:name|id))="$/i.test(before.slice(-MAX_ATTRIBUTE)) && /^:{0,2}"/.test(after)) ||
      (/\bandroid:name="(?:[\w.]{0,200}\.)?$/.test(before) && after.startsWith('"')),
  );

const MAX_ATTRIBUTE = 40;

/** Data in which a function may be named. */
const DATA = new Set(["json", "yaml", "toml", "ini"]);
/** Those whose attributes name functions. */
const ATTRIBUTES = new Set(["xml", "ini"]);
/** Files in which one name is looked for. */
const MAX_FILES = 200;

/** What a definition may be named with: its class, for a controller of Rails its resource, or its file; of a class with its own file its folder. */
function ownersOf({ name, qualifiedName, path }: DefinedSymbol): string[] {
  const around = nameParts(qualifiedName).at(-2);
  const stem = stemOf(path);
  const owners = [around ?? (stem === name ? lastPart(folderOf(path)) : stem)];
  if (around !== undefined && stem.endsWith("_controller")) owners.push(stem.slice(0, -"_controller".length));
  return owners.filter((owner) => owner.length > 1);
}

/** The name of a file up to its extension. */
function stemOf(path: string): string {
  const file = path.slice(path.lastIndexOf("/") + 1);
  return file.split(".", 1)[0] ?? file;
}

const SEPARATORS = ["::", "->", ".", "#", "@", ":"];

/** Whether a line has `owner.name`, also with `#`, `@`, `:`, `::` or `->` between; in code, only in quotes. */
export function namesMember(text: string, name: string, owners: ReadonlySet<string>, isData: boolean): boolean {
  for (const { before } of occurrencesOf(text, name)) {
    const separator = SEPARATORS.find((each) => before.endsWith(each)) ?? "";
    const end = before.length - separator.length;
    const isNamed = [...owners].some(
      (owner) => before.endsWith(owner, end) && !isPartOfName(before[end - owner.length - 1]),
    );
    if (separator !== "" && isNamed && (isData || isInQuotes(before))) return true;
  }
  return false;
}

/** Whether a text ends within quotes: one kind of them was opened and not closed. */
const isInQuotes = (before: string): boolean => ["'", '"', "`"].some((quote) => before.split(quote).length % 2 === 0);

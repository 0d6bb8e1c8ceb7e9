/** Which types implement an interface of Go: no line says so, their methods do. */
import { compareSignatures, type GoSignature, readGoSignature } from "../../../engines/relations/go-signature.ts";
import { splitMark } from "../../../engines/relations/marked-paths.ts";
import { folderOf } from "../../../engines/relations/modules.ts";
import { packageOf } from "../../../engines/relations/packages.ts";
import type { DefinedSymbol, QuestionFiles } from "../../../engines/relations/question-files.ts";
import { lastPart } from "../../../engines/search/names.ts";
import { type Certainty, lessSure, symbolKey } from "./found.ts";
import { resolvedDefinition } from "./resolved.ts";

/** Methods of an interface that are compared, and types that are. */
const MAX_METHODS = 100;
const MAX_TYPES = 500;
/** Interfaces in interfaces, and types in types, that lend their methods. */
const MAX_EMBEDDED = 4;

/** A method that an interface asks for. */
interface Asked {
  name: string;
  /** Undefined where it was cut. */
  signature: GoSignature | undefined;
}

interface MethodSet {
  methods: Asked[];
  /** Whether all methods are known: none comes from an interface of another module. */
  isWhole: boolean;
  isGeneric: boolean;
}

/** Whether a definition is an interface of Go, which types implement without naming it. */
export const isGoInterface = ({ kind, path }: DefinedSymbol): boolean => kind === "interface" && path.endsWith(".go");

/** Matches types with interfaces in one revision. One object serves one question: it remembers what it has read. */
export class GoInterfaces {
  readonly #files: QuestionFiles;
  readonly #sets = new Map<string, Promise<MethodSet>>();
  /** How sure it is that a type implements an interface, by both. */
  readonly #known = new Map<string, Promise<Certainty | undefined>>();
  truncated = false;

  constructor(files: QuestionFiles) {
    this.#files = files;
  }

  /**
   * Types that may implement an interface: those that define the method with the fewest definitions. All others that implement it embed one of
   * them.
   */
  async candidates(of: DefinedSymbol): Promise<DefinedSymbol[]> {
    const { methods } = await this.#methodSet(of);
    const named = await Promise.all(methods.map(({ name }) => this.#methodsNamed(name, of.path)));
    const [fewest = []] = named.toSorted((a, b) => a.length - b.length);
    if (fewest.length > MAX_TYPES) this.truncated = true;
    const types = await Promise.all(fewest.slice(0, MAX_TYPES).map((method) => this.typeOf(method)));
    return types.filter((type) => type !== undefined);
  }

  /** The interface that is defined on a line; undefined if there is none. */
  async interfaceAt({ path, line }: { path: string; line: number }): Promise<DefinedSymbol | undefined> {
    if (!path.endsWith(".go")) return undefined;
    const symbols = await this.#files.definitionsIn(path);
    return symbols.find((each) => each.startLine === line && isGoInterface(each));
  }

  /**
   * How sure it is that a type implements an interface: `certain` where parameters and results are the same, too, `likely` where that cannot
   * be told. Undefined if it does not.
   */
  certaintyOf(type: DefinedSymbol, of: DefinedSymbol): Promise<Certainty | undefined> {
    const key = `${symbolKey(type)}\n${symbolKey(of)}`;
    let known = this.#known.get(key);
    if (!known) {
      known = this.#compare(type, of);
      this.#known.set(key, known);
    }
    return known;
  }

  async #compare(type: DefinedSymbol, of: DefinedSymbol): Promise<Certainty | undefined> {
    const { methods, isWhole, isGeneric } = await this.#methodSet(of);
    if (methods.length === 0) return undefined;
    const own: DefinedSymbol[] = [];
    for (const { name } of methods) {
      const method = await this.methodOf(type, name);
      if (!method) return undefined;
      own.push(method);
    }
    const signatures = await this.#signaturesOf(own);
    let certainty: Certainty = isWhole ? "certain" : "likely";
    for (const [i, { signature: asked }] of methods.entries()) {
      const signature = signatures[i];
      const same = asked && signature ? compareSignatures(asked, signature, isGeneric) : "alike";
      if (same === "other") return undefined;
      if (same === "alike") certainty = lessSure(certainty, "likely");
    }
    return certainty;
  }

  /** The type that a method is defined for; undefined for a method of an interface and for what is none. */
  async typeOf(method: DefinedSymbol): Promise<DefinedSymbol | undefined> {
    const name = receiverOf(method);
    if (name === undefined || !method.path.endsWith(".go")) return undefined;
    const named = await this.#files.definitions(name, method.path, packageFolder(method.path));
    return named.find((each) => isInPackage(each, method.path) && each.qualifiedName === name && !isGoInterface(each));
  }

  /** A type's method: its own, or one that an embedded type lends. */
  async methodOf(type: DefinedSymbol, name: string, depth = 0): Promise<DefinedSymbol | undefined> {
    const own = (await this.#methodsNamed(name, type.path, packageFolder(type.path))).find(
      (each) => isInPackage(each, type.path) && receiverOf(each) === type.name,
    );
    if (own || depth >= MAX_EMBEDDED) return own;
    for (const embedded of (await this.#embeddedIn(type)).known) {
      const lent = await this.methodOf(embedded, name, depth + 1);
      if (lent) return lent;
    }
    return undefined;
  }

  #methodSet(of: DefinedSymbol): Promise<MethodSet> {
    const key = symbolKey(of);
    let set = this.#sets.get(key);
    if (!set) {
      set = this.#readMethodSet(of, 0);
      this.#sets.set(key, set);
    }
    return set;
  }

  async #readMethodSet(of: DefinedSymbol, depth: number): Promise<MethodSet> {
    const members = (await this.#files.definitionsIn(of.path)).filter(
      (each) => each.kind === "method" && each.qualifiedName === `${of.qualifiedName}.${each.name}`,
    );
    const own = members.slice(0, MAX_METHODS);
    const signatures = await this.#signaturesOf(own);
    const methods = new Map(own.map(({ name }, i): [string, Asked] => [name, { name, signature: signatures[i] }]));
    const [description] = await this.#files.described([of]);
    const isGeneric = description?.signature.includes("[") ?? false;
    const embedded = await this.#embeddedIn(of);
    const set = { isWhole: embedded.isAll && members.length <= MAX_METHODS && depth < MAX_EMBEDDED, isGeneric };
    if (depth < MAX_EMBEDDED)
      for (const base of embedded.known.filter(isGoInterface)) {
        const lent = await this.#readMethodSet(base, depth + 1);
        for (const each of lent.methods) if (methods.size < MAX_METHODS) methods.set(each.name, each);
        set.isWhole &&= lent.isWhole;
        set.isGeneric ||= lent.isGeneric;
      }
    return { methods: [...methods.values()], ...set };
  }

  /** The types that a struct or interface embeds; `isAll` unless some are not in the index. */
  async #embeddedIn(type: DefinedSymbol): Promise<{ known: DefinedSymbol[]; isAll: boolean }> {
    const uses = (await this.#files.uses(type.path))?.uses ?? [];
    const own = uses.filter(({ kind, line }) => kind === "inherit" && type.startLine <= line && line <= type.endLine);
    const found = await Promise.all(own.map((use) => resolvedDefinition(this.#files, type.path, use)));
    const known = found.flatMap((each) => (typeof each === "string" ? [] : [each.definition]));
    return { known, isAll: known.length === own.length };
  }

  /** Methods of a name in the repository of a file, or directly in a folder of it. */
  async #methodsNamed(name: string, path: string, folder?: string): Promise<DefinedSymbol[]> {
    const named = await this.#files.definitions(name, path, folder);
    return named.filter(({ kind, path }) => kind === "method" && path.endsWith(".go"));
  }

  /** Signatures of methods, in their order: texts are read with one request for all of them. */
  async #signaturesOf(methods: readonly DefinedSymbol[]): Promise<(GoSignature | undefined)[]> {
    const described = await this.#files.described(methods);
    const heads = new Map(described.map((each) => [headKey(each), each.signature]));
    return Promise.all(
      methods.map(async (method) => {
        const head = heads.get(headKey(method));
        const uses = await this.#files.uses(method.path);
        return head !== undefined && uses ? readGoSignature(head, method.name, packageOf(uses)) : undefined;
      }),
    );
  }
}

/** Several methods of an interface can stand on one line. */
const headKey = (method: DefinedSymbol): string => `${method.qualifiedName} ${symbolKey(method)}`;

/** Name of the type that a method is defined for. */
function receiverOf({ qualifiedName, name }: DefinedSymbol): string | undefined {
  const type = qualifiedName.slice(0, -name.length - 1);
  return type === "" ? undefined : lastPart(type);
}

/** The folder of a file's package in its repository. */
const packageFolder = (path: string): string => folderOf(splitMark(path).own);

/** Whether a definition is in the package of a file: packages are folders. */
const isInPackage = ({ path }: DefinedSymbol, of: string): boolean =>
  path.endsWith(".go") && folderOf(path) === folderOf(of);

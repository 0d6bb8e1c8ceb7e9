/** Types and functions of Java's standard library that hold other values or hand them on. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { wordSet } from "../../lib/word-set.ts";
import { type Expression, lookUp, oneOfValues, type Scope, stepInto, UNKNOWN } from "./expressions.ts";
import { ELEMENT, ENTRY, FUNCTION, LIST, MAP, type Wrapping } from "./wrapped.ts";

const LISTS = wordSet(
  `List ArrayList LinkedList Collection Set HashSet LinkedHashSet TreeSet SortedSet EnumSet Iterable Iterator ListIterator Queue Deque ArrayDeque
   PriorityQueue BlockingQueue LinkedBlockingQueue ConcurrentLinkedQueue Stack Vector Stream Optional CopyOnWriteArrayList AtomicReference ThreadLocal
   WeakReference SoftReference ServiceLoader ImmutableList ImmutableSet`,
);
const MAPS = wordSet(
  `Map HashMap LinkedHashMap TreeMap SortedMap NavigableMap ConcurrentMap ConcurrentHashMap EnumMap WeakHashMap IdentityHashMap ImmutableMap`,
);
/** What gives a value when it is called or waited for, which is of the type of the last type argument. */
const FUNCTIONS = wordSet(
  `Supplier Function BiFunction UnaryOperator BinaryOperator IntFunction LongFunction Callable Future CompletableFuture CompletionStage Provider`,
);
/** Types of the package `java.lang`, which is never imported. */
const IN_LANGUAGE = wordSet("Iterable ThreadLocal");
const LIBRARIES = /^(?:javax?|jakarta|com\.google\.(?:common|inject))\./;

/** Whether a package is of the standard library or the like. */
export const isLibrary = (name: string): boolean => LIBRARIES.test(`${name}.`);

/** Packages of libraries all of whose types a file imports. */
export type Stars = ReadonlySet<string>;

/** Whether a name is that of a type of the standard library or the like, as far as the imports of the file tell. */
export function isOfLibrary(name: string, scope: Scope, stars: Stars): boolean {
  const binding = lookUp(scope, name);
  if (binding) return binding.is === "import" && isLibrary(binding.module);
  return IN_LANGUAGE.has(name) || stars.size > 0;
}

/** How a generic type of the standard library holds its last argument; undefined for other types, among them those of the repository. */
export function wrappingOf(written: string, scope: Scope, stars: Stars): Wrapping | undefined {
  const name = written.replace(/^javax?(?:\.\p{Ll}+)+\./u, "");
  const [outer = ""] = name.split(".", 1);
  if (name === written && !isOfLibrary(outer, scope, stars)) return undefined;
  if (LISTS.has(name)) return LIST;
  if (MAPS.has(name)) return MAP;
  if (FUNCTIONS.has(name)) return FUNCTION;
  return name === "Map.Entry" || name === "Entry" ? ENTRY : undefined;
}

/** Positions of the type arguments that the parameters of a function have. */
const TAKEN: ReadonlyMap<string, readonly number[]> = new Map<string, readonly number[]>([
  ...["Consumer", "Function", "Predicate", "UnaryOperator", "ToIntFunction", "ToLongFunction", "ToDoubleFunction"].map(
    (name) => [name, [0]] as const,
  ),
  ...["BiConsumer", "BiFunction", "BiPredicate", "ToIntBiFunction"].map((name) => [name, [0, 1]] as const),
  ...["BinaryOperator", "Comparator"].map((name) => [name, [0, 0]] as const),
]);

/** The types of the parameters of a function whose type is of the standard library; undefined for other types. */
export function parameterTypes(type: SyntaxNode, scope: Scope, stars: Stars): readonly SyntaxNode[] | undefined {
  const name = type.type === "generic_type" ? type.namedChild(0)?.text : undefined;
  const taken = name !== undefined && isOfLibrary(name, scope, stars) ? TAKEN.get(name) : undefined;
  const given = type.childOfType("type_arguments")?.namedChildren ?? [];
  return taken?.flatMap((at) => {
    const argument = given[at];
    // A function that takes a `? super T` is called with a `T`.
    const bound = argument?.type === "wildcard" ? argument.namedChildren.at(-1) : argument;
    return bound ? [bound] : [];
  });
}

/** What a static method of the library gives: what holds its arguments as elements or values, or the first argument itself. */
const GIVEN: ReadonlyMap<string, "elements" | "value" | "argument" | "future"> = new Map([
  ...[
    "Arrays.asList Collections.singleton Collections.singletonList ImmutableList.of ImmutableSet.of List.of Lists.newArrayList Optional.of",
    "Optional.ofNullable Set.of Sets.newHashSet Stream.of",
  ].flatMap((names) => names.split(" ").map((name) => [name, "elements"] as const)),
  ...["Map.of", "Map.entry", "Collections.singletonMap", "ImmutableMap.of"].map((name) => [name, "value"] as const),
  ...[
    "Arrays.copyOf Arrays.copyOfRange Arrays.stream Collections.synchronizedList Collections.synchronizedMap Collections.unmodifiableCollection",
    "Collections.unmodifiableList Collections.unmodifiableMap Collections.unmodifiableSet ImmutableList.copyOf ImmutableMap.copyOf ImmutableSet.copyOf",
    "List.copyOf Map.copyOf Objects.requireNonNull Objects.requireNonNullElse Preconditions.checkNotNull Set.copyOf",
  ].flatMap((names) => names.split(" ").map((name) => [name, "argument"] as const)),
  ["CompletableFuture.completedFuture", "future"],
]);

/** Arguments that are compared. */
const MAX_ELEMENTS = 4;

/** How a static method holds what the function gives that it is called with. */
const CALLING: ReadonlyMap<string, Wrapping> = new Map([
  ["CompletableFuture.supplyAsync", FUNCTION],
  ["Stream.generate", LIST],
  ["ThreadLocal.withInitial", LIST],
]);

/**
 * What a call of such a method gives; `type` is the class, `read` gives the value of an argument, `result` what it gives if it is a function.
 * Undefined for other calls.
 */
export function givenByLibrary(
  type: string,
  name: string,
  list: readonly SyntaxNode[],
  read: (node: SyntaxNode) => Expression,
  result: (node: SyntaxNode) => Expression,
): Expression | undefined {
  const gives = GIVEN.get(`${type}.${name}`);
  const [first, second] = list;
  const calls = first && CALLING.get(`${type}.${name}`);
  if (calls) return stepInto(result(first), calls);
  if (gives === undefined || !first) return undefined;
  if (gives === "argument") return read(first);
  if (gives === "future") return stepInto(read(first), FUNCTION);
  if (gives === "value") {
    return stepInto(second ? read(second) : UNKNOWN, type === "Map" && name === "entry" ? ENTRY : MAP);
  }
  return stepInto(oneOfValues(list.slice(0, MAX_ELEMENTS).map((each) => read(each))), LIST);
}

const HOLDERS = wordSet("AtomicReference WeakReference SoftReference");

/** What `new Name<>(value)` of the library gives: a container of what is in another one, or what holds the value. */
export const held = (name: string, value: Expression): Expression =>
  HOLDERS.has(name) ? stepInto(value, LIST) : value;

/** What a stream gives that is collected: `collect(Collectors.toList())`; `read` gives what a function makes of an element. */
export function collected(
  stream: Expression,
  collector: SyntaxNode | undefined,
  read: (node: SyntaxNode) => Expression,
): Expression {
  const name = collector?.type === "method_invocation" ? (collector.field("name")?.text ?? "") : "";
  const list = collector?.field("arguments")?.namedChildren ?? [];
  if (/^to(?:Unmodifiable)?(?:List|Set|Collection)$/.test(name)) return stream;
  const element: Expression = stepInto(stream, ELEMENT);
  if (/^(?:groupingBy|partitioningBy)$/.test(name) && list.length === 1) return stepInto(stepInto(element, LIST), MAP);
  const [, value] = list;
  if (!/^to(?:Unmodifiable|Concurrent)?Map$/.test(name) || !value) return UNKNOWN;
  return stepInto(/^(?:Function\.)?identity\(\)$/.test(value.text) ? element : read(value), MAP);
}

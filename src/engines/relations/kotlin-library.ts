/** Types and functions of Kotlin's standard library that hold other values or hand them on. */
import { wordSet } from "../../lib/word-set.ts";
import { type Expression, instanceOf, oneOfValues, stepInto, UNKNOWN } from "./expressions.ts";
import { ELEMENT, FUNCTION, LIST, MAP, type Wrapping } from "./wrapped.ts";

const LISTS =
  /^(?:Mutable)?(?:List|Set|Collection|Iterable|Iterator|StateFlow|SharedFlow|LiveData|State)$|^(?:Sequence|Array|ArrayList|ArrayDeque|HashSet|LinkedHashSet|LinkedList|Lazy|Flow|Result|Optional)$/;
const MAPS = /^(?:Mutable)?Map$|^(?:HashMap|LinkedHashMap|ConcurrentHashMap|TreeMap)$/;
const FUNCTIONS = /^(?:Deferred|CompletableDeferred|Provider|Supplier)$/;

/** How a generic type of the standard library holds its last argument. */
export function wrappingOf(name: string, args: number): Wrapping | undefined {
  if (args === 1 && LISTS.test(name)) return LIST;
  if (args === 1 && FUNCTIONS.test(name)) return FUNCTION;
  return args === 2 && MAPS.test(name) ? MAP : undefined;
}

/** A call, as far as the functions of the library look at it; what they do not look at is not read. */
export interface LibraryCall {
  name: string;
  /** What it is called on; undefined for a bare name. */
  receiver: Expression | undefined;
  /** Values of its arguments. */
  args: () => readonly Expression[];
  /** Values behind `to` of its arguments: of `mapOf("a" to x)` the value of `x`. */
  paired: () => readonly Expression[];
  /** Its type arguments. */
  types: () => readonly Expression[];
  /** What its lambda gives; unknown without one. */
  result: () => Expression;
  /** What its lambda gives if that is `a to b`: the value of `b`. */
  second: () => Expression;
}

const LIST_OF = wordSet(
  `arrayListOf arrayOf emptyArray emptyFlow emptyList emptySequence emptySet flowOf hashSetOf linkedSetOf listOf listOfNotNull mutableListOf mutableSetOf
   mutableStateOf sequenceOf setOf setOfNotNull sortedSetOf MutableLiveData MutableStateFlow`,
);
const MAP_OF = wordSet("emptyMap hashMapOf linkedMapOf mapOf mutableMapOf sortedMapOf");
const SAME_ARGUMENT = wordSet("checkNotNull requireNotNull");
/** Functions that give what their lambda gives. */
const RUN = wordSet(
  `coroutineScope remember rememberSaveable run runBlocking supervisorScope synchronized with withContext withLock withTimeout`,
);
const RUN_ON = wordSet("flatMap let run use");

/** A value of the type argument at a position; undefined without one. */
function given(types: LibraryCall["types"], at: number): Expression | undefined {
  const type = types()[at];
  return type && instanceOf(type);
}

/** What a call of a function of the library gives; undefined for other calls. The repository may have a function of the name. */
export const givenByLibrary = (call: LibraryCall): Expression | undefined =>
  call.receiver === undefined ? givenByFunction(call) : givenByMember(call, call.receiver);

function givenByFunction({ name, args, paired, types, result }: LibraryCall): Expression | undefined {
  if (LIST_OF.has(name)) return stepInto(given(types, 0) ?? oneOfValues(args()), LIST);
  if (MAP_OF.has(name)) return stepInto(given(types, 1) ?? oneOfValues(paired()), MAP);
  if (SAME_ARGUMENT.has(name)) return args()[0];
  if (name === "generateSequence") return stepInto(args()[0] ?? UNKNOWN, LIST);
  if (name === "async") return stepInto(result(), FUNCTION);
  if (name === "runCatching") return stepInto(result(), LIST);
  if (RUN.has(name)) return result();
  const own = /^\p{Lu}/u.test(name) ? types() : [];
  const wrapping = wrappingOf(name, own.length);
  return wrapping && stepInto(own.at(-1) ?? UNKNOWN, wrapping);
}

function givenByMember({ name, types, result, second }: LibraryCall, receiver: Expression): Expression | undefined {
  const element: Expression = { is: "member", of: receiver, name: ELEMENT };
  switch (name) {
    case "copy":
      return receiver;
    case "filterIsInstance":
      return stepInto(given(types, 0) ?? UNKNOWN, LIST);
    case "chunked":
    case "windowed":
      return stepInto(stepInto(element, LIST), LIST);
    case "associateBy":
      return stepInto(element, MAP);
    case "groupBy":
      return stepInto(stepInto(element, LIST), MAP);
    case "associate":
      return stepInto(second(), MAP);
    case "associateWith":
    case "mapValues":
      return stepInto(result(), MAP);
    case "map":
    case "mapNotNull":
    case "mapLatest":
    case "runCatching":
      return stepInto(result(), LIST);
    case "async":
      return stepInto(result(), FUNCTION);
    default:
      return RUN_ON.has(name) ? result() : undefined;
  }
}

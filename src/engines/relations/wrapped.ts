/**
 * Types around another type: names of members that no source can have. A value of `Option<T>` is the member `OPTIONAL` of `T`, one of
 * `Arc<T>` the member `POINTER`; `UNWRAPPED` is what `?` and `unwrap` give.
 */
export const OPTIONAL = "<optional>";
export const POINTER = "<pointer>";
export const UNWRAPPED = "<unwrapped>";

/** A `Mutex`, `RefCell` and the like of Rust, whose value is got by a method. */
export const CELL = "<cell>";
/** What `lock` and `borrow` of such a cell give: a pointer, or a result with one. */
export const GUARD = "<guard>";

/** A `unique_ptr`, `shared_ptr`, `optional` or the like of C++, whose target is behind `->`. */
export const SMART = "<smart pointer>";
/** What `->` leads to: the target of a smart pointer or iterator, or what a plain pointer points to. */
export const ARROW = "<arrow>";

/** Arrays, lists, sets, streams and the like: what holds values of one type. */
export const LIST = "<list>";
/** What holds values by a key; the type of the keys is not followed. */
export const MAP = "<map>";
/** A key with a value of a map. */
export const ENTRY = "<entry>";
/** What gives a value when it is called or waited for. */
export const FUNCTION = "<function>";
/** What a function of TypeScript gives that states the type of its argument: `x is T`. */
export const PREDICATE = "<predicate>";
/** The type that a call of such a function states. */
export const STATED = "<stated>";
/** An iterator of C++, which points to an element. */
export const ITERATOR = "<iterator>";
/** What an index, a loop over elements, or the second name of an entry gives. */
export const ELEMENT = "<element>";
/** What a loop over a list or map gives: of a map its entries. */
export const ITERATED = "<iterated>";
/** What a pattern takes from a list at a place; at the second place, from an entry its value. */
export const PLACE = "<place>";
export const SECOND_PLACE = "<second place>";
/** `.1` of a tuple of Rust, as the key of the member. */
const SECOND_OF_TUPLE = "field 1";
/** Value of `with … as` in Python: what a generator function yields, otherwise the object itself. */
export const ENTERED = "<entered>";
/** The target of `*`: of an iterator or smart pointer; a plain pointer is not told from what it points to. */
export const TARGET = "<target>";

const isKotlin = (path: string): boolean => /\.kts?$/.test(path);

const WRAPPINGS = [OPTIONAL, POINTER, CELL, GUARD, SMART, LIST, MAP, ENTRY, ITERATOR, FUNCTION, PREDICATE] as const;
export type Wrapping = (typeof WRAPPINGS)[number];

export const isWrapping = (name: string): name is Wrapping => (WRAPPINGS as readonly string[]).includes(name);

/** Methods that the pointer type defines itself, or that both it and its target may get from a trait. */
const OF_POINTERS =
  /^(?:clone|clone_from|as_ref|as_mut|borrow|borrow_mut|deref|deref_mut|fmt|eq|ne|cmp|partial_cmp|hash|into|try_into|to_owned|to_string|drop|as_ptr|is_borrowed|into_owned|to_mut)$/;

/** Whether a member of a wrapped value is the member of what is wrapped. */
export const isSeenThrough = (wrapping: Wrapping, name: string): boolean =>
  (wrapping === POINTER || wrapping === GUARD) && !OF_POINTERS.test(name);

/** Types that are left when the outermost is taken off by a step; undefined where it gives nothing that is known. */
export function unwrappedBy(around: readonly Wrapping[], step: string): readonly Wrapping[] | undefined {
  const outermost = around.at(-1);
  const inside = around.slice(0, -1);
  if (step === UNWRAPPED && outermost === GUARD) return [...inside, POINTER];
  if ((outermost === POINTER || outermost === GUARD) && OF_HELD.has(step)) return unwrappedBy(inside, step);
  switch (step) {
    case STATED:
      return outermost === PREDICATE ? inside : undefined;
    case UNWRAPPED:
      return outermost === OPTIONAL ? inside : undefined;
    case ARROW:
    case TARGET:
      return outermost === SMART || outermost === ITERATOR ? inside : around;
    case ELEMENT:
      return outermost === LIST || outermost === MAP || outermost === ENTRY ? inside : undefined;
    case ITERATED:
      if (outermost === MAP) return [...inside, ENTRY];
      return outermost === LIST ? inside : undefined;
    case ENTERED:
      return outermost === LIST ? inside : around;
    case PLACE:
      return outermost === LIST ? inside : undefined;
    case SECOND_PLACE:
      return outermost === LIST || outermost === ENTRY ? inside : undefined;
    case "second":
    case "Value":
    case SECOND_OF_TUPLE:
      return outermost === ENTRY ? inside : undefined;
    case "Values":
      return outermost === MAP ? [...inside, LIST] : undefined;
    default:
      return undefined;
  }
}

/** Steps to what a pointer of Rust points to, that is one. */
const OF_HELD: ReadonlySet<string> = new Set([UNWRAPPED, ELEMENT, ITERATED, PLACE, SECOND_PLACE]);

/** Whether a name is a step, or a property of the outermost type: `second` of an entry in C++, `Value` and `Values` of C#, `1` of Rust. */
export const isStep = (name: string, outermost: Wrapping | undefined): boolean =>
  STEPS.has(name) || (PROPERTIES.has(name) && PROPERTIES.get(name) === outermost);
const STEPS: ReadonlySet<string> = new Set([
  STATED,
  UNWRAPPED,
  ARROW,
  TARGET,
  ELEMENT,
  ITERATED,
  ENTERED,
  PLACE,
  SECOND_PLACE,
]);
const PROPERTIES: ReadonlyMap<string, Wrapping> = new Map([
  ["second", ENTRY],
  ["Value", ENTRY],
  [SECOND_OF_TUPLE, ENTRY],
  ["Values", MAP],
]);

/** Members of a map of JavaScript; other names are keys of a record. */
const OF_MAP =
  /^(?:clear|constructor|delete|entries|forEach|get|has|hasOwnProperty|keys|set|size|toString|values|<.*)$/;

/** Whether a member is what a record of TypeScript has at a key. */
export const isKeyOfRecord = (outermost: Wrapping | undefined, name: string): boolean =>
  outermost === MAP && !OF_MAP.test(name);

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/** Methods of the standard libraries that give an element, all languages together: those of lists, iterators, optional values and streams. */
const GIVE_ELEMENT = words(
  "at back elementAt emplace_back emplace_front element find findLast first front get getFirst getLast last max min next orElse orElseGet orElseThrow peek " +
    "peekFirst peekLast poll pollFirst pollLast pop popleft pop_back previous remove removeFirst removeLast shift take top " +
    "Dequeue ElementAt ElementAtOrDefault Find FindLast First FirstAsync FirstOrDefault FirstOrDefaultAsync Last LastOrDefault MaxBy MinBy Peek Pop " +
    "Single SingleAsync SingleOrDefault SingleOrDefaultAsync " +
    "await elementAtOrNull firstOrNull getOrDefault getOrElse getOrNull getOrThrow getValue lastOrNull maxBy maxByOrNull maxOrNull minBy minByOrNull " +
    "minOrNull random randomOrNull removeAt single singleOrNull",
);
const GIVE_LIST = words(
  "concat copy descendingIterator distinct filter findAny findFirst iterator limit listIterator parallelStream reverse reversed skip slice sort sorted splice stream " +
    "subList toList toReversed toSorted union values " +
    "Append AsEnumerable AsNoTracking AsQueryable AsReadOnly Concat Distinct DistinctBy Except FindAll GetRange Intersect OrderBy OrderByDescending Prepend " +
    "Reverse Skip SkipWhile Take TakeLast TakeWhile ThenBy ThenByDescending ToArray ToArrayAsync ToHashSet ToImmutableArray ToImmutableList ToList " +
    "ToListAsync Union Where " +
    "asIterable asReversed asSequence catch distinctBy distinctUntilChanged drop dropLast dropWhile filterNot filterNotNull flowOn ifEmpty intersect minus " +
    "minusElement onEach onFailure onSuccess orEmpty plus plusElement requireNoNulls shuffled sortedBy sortedByDescending sortedDescending sortedWith " +
    "subtract takeLast takeLastWhile takeWhile toHashSet toMutableList toMutableSet toSet toTypedArray",
);
const GIVE_ITERATOR = words("begin cbegin cend end erase find insert lower_bound rbegin rend upper_bound");
const GIVE_TARGET = words("get load release value value_or");
const GIVE_VALUE = words(
  "at compute computeIfAbsent computeIfPresent get getOrDefault getOrElse getOrPut getValue merge pop put putIfAbsent remove setdefault GetOrAdd " +
    "GetValueOrDefault",
);
const GIVE_RESULT = words("apply call get getNow join resultNow Load Swap");
const GIVE_FUNCTION = words("completeOnTimeout exceptionally orTimeout toCompletableFuture whenComplete");
const HAND_RESULT = words(
  "handle thenAccept thenAcceptAsync thenApply thenApplyAsync thenCombine thenCompose thenComposeAsync whenComplete",
);
const GIVE_MAP = words(
  "filter filterKeys filterNot filterValues minus onEach orEmpty plus toMap toMutableMap toSortedMap",
);
const GIVE_ENTRIES = words("entries entrySet items");
/** Methods whose callback gets the elements. */
const HAND_ELEMENT = words(
  "allMatch anyMatch every filter find findIndex findLast flatMap forEach ifPresent map mapToInt mapToObj noneMatch peek removeIf some sort toSorted " +
    "All Any Average Count DistinctBy Exists Find FindAll FindIndex FindLast First FirstOrDefault ForEach GroupBy Last LastOrDefault Max MaxBy Min MinBy " +
    "OrderBy OrderByDescending RemoveAll Select SelectMany Single SingleOrDefault SkipWhile Sum TakeWhile ThenBy ThenByDescending ToDictionary ToLookup " +
    "TrueForAll Where " +
    "all any associate associateBy associateWith collect collectLatest count distinctBy dropWhile filterNot first firstNotNullOf firstOrNull groupBy " +
    "indexOfFirst indexOfLast last lastOrNull mapLatest mapNotNull maxBy maxByOrNull maxOf minBy minByOrNull minOf none onEach onSuccess partition single " +
    "singleOrNull sortBy sortByDescending sortedBy sortedByDescending sumOf takeWhile",
);
/** Methods whose callback gets an element as its second parameter. */
const HAND_SECOND = words(
  "Aggregate filterIndexed fold forEachIndexed mapIndexed mapIndexedNotNull onEachIndexed reduce reduceRight",
);

/** What a method of a container gives, by the types around its elements; undefined where that is not known. */
export function givenBy(around: readonly Wrapping[], method: string, isCpp: boolean): readonly Wrapping[] | undefined {
  const outermost = around.at(-1);
  const inside = around.slice(0, -1);
  if (isCpp && outermost === SMART) return method === "lock" ? around : GIVE_TARGET.has(method) ? inside : undefined;
  if (isCpp && (outermost === LIST || outermost === MAP) && GIVE_ITERATOR.has(method))
    return outermost === MAP ? [...inside, ENTRY, ITERATOR] : [...inside, ITERATOR];
  if (outermost === LIST) {
    if (GIVE_ELEMENT.has(method)) return inside;
    if (method === "entries" || method === "withIndex") return [...inside, ENTRY, LIST];
    return GIVE_LIST.has(method) ? around : undefined;
  }
  if (outermost === MAP) {
    if (GIVE_VALUE.has(method)) return inside;
    if (method === "values") return [...inside, LIST];
    if (GIVE_MAP.has(method)) return around;
    return GIVE_ENTRIES.has(method) ? [...inside, ENTRY, LIST] : undefined;
  }
  if (outermost === FUNCTION) {
    if (GIVE_RESULT.has(method)) return inside;
    return GIVE_FUNCTION.has(method) ? around : undefined;
  }
  return outermost === ENTRY && method === "getValue" ? inside : undefined;
}

/** Other methods of maps of Kotlin whose callback gets the entries. */
const HAND_ENTRY = words("filterNot flatMap mapKeys mapValues");

/** What a method of a container hands to its callback at a position of the callback's parameters, in a file. */
export function handedBy(
  around: readonly Wrapping[],
  method: string,
  position: number,
  path: string,
): readonly Wrapping[] | undefined {
  const outermost = around.at(-1);
  const inside = around.slice(0, -1);
  if (outermost === LIST && HAND_ELEMENT.has(method))
    return position === 0 || /sort/i.test(method) ? inside : undefined;
  if (outermost === FUNCTION && HAND_RESULT.has(method)) return position === 0 ? inside : undefined;
  if (outermost === LIST && HAND_SECOND.has(method)) return (position & 7) === 1 ? inside : undefined;
  // A map of Java hands over the key first, one of JavaScript the value.
  if (outermost === MAP && method === "forEach" && !isKotlin(path))
    return position === (path.endsWith(".java") ? 1 : 0) ? inside : undefined;
  if (outermost !== MAP || !isKotlin(path)) return undefined;
  if (method === "filterValues" || position === 1) return inside;
  return HAND_ELEMENT.has(method) || HAND_ENTRY.has(method) ? [...inside, ENTRY] : undefined;
}

/** The name of a method: names of those of Java end with the number of their parameters, and their types, those of PHP with `()`. */
export const methodName = (name: string): string => {
  const end = name.search(/\/\d|\(\)$/);
  return end < 0 ? name : name.slice(0, end);
};

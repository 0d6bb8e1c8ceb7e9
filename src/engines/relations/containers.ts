/** What methods of containers, streams, optional values, futures and the like give and hand to callbacks. */
import { wordSet } from "../../lib/word-set.ts";
import { isKotlin } from "./packages.ts";
import { IN_PROGRAM } from "./program.ts";
import { givenByRust, handedByRust } from "./rust-library.ts";
import { ENTRY, FUNCTION, ITERATOR, LIST, MAP, methodName, SMART, type Wrapping } from "./wrapped.ts";

/** Methods of the standard libraries that give an element, all languages together: those of lists, iterators, optional values and streams. */
const GIVE_ELEMENT = wordSet(
  `at back elementAt emplace_back emplace_front element find findLast first front get getFirst getLast last max min next orElse orElseGet
   orElseThrow peek peekFirst peekLast poll pollFirst pollLast pop popleft pop_back previous remove removeFirst removeLast shift take top
   Dequeue ElementAt ElementAtOrDefault Find FindLast First FirstAsync FirstOrDefault FirstOrDefaultAsync Last LastOrDefault MaxBy MinBy Peek
   Pop Single SingleAsync SingleOrDefault SingleOrDefaultAsync await elementAtOrNull firstOrNull getOrDefault getOrElse getOrNull getOrThrow
   getValue lastOrNull maxBy maxByOrNull maxOrNull minBy minByOrNull minOrNull random randomOrNull removeAt single singleOrNull`,
);
const GIVE_LIST = wordSet(
  `concat copy descendingIterator distinct filter findAny findFirst iterator limit listIterator parallelStream reverse reversed skip slice sort
   sorted splice stream subList toList toReversed toSorted union values Append AsEnumerable AsNoTracking AsQueryable AsReadOnly Concat Distinct
   DistinctBy Except FindAll GetRange Intersect OrderBy OrderByDescending Prepend Reverse Skip SkipWhile Take TakeLast TakeWhile ThenBy
   ThenByDescending ToArray ToArrayAsync ToHashSet ToImmutableArray ToImmutableList ToList ToListAsync Union Where asIterable asReversed
   asSequence catch distinctBy distinctUntilChanged drop dropLast dropWhile filterNot filterNotNull flowOn ifEmpty intersect minus minusElement
   onEach onFailure onSuccess orEmpty plus plusElement requireNoNulls shuffled sortedBy sortedByDescending sortedDescending sortedWith subtract
   takeLast takeLastWhile takeWhile toHashSet toMutableList toMutableSet toSet toTypedArray`,
);
const GIVE_ITERATOR = wordSet("begin cbegin cend end erase find insert lower_bound rbegin rend upper_bound");
const GIVE_TARGET = wordSet("get load release value value_or");
const GIVE_VALUE = wordSet(
  `at compute computeIfAbsent computeIfPresent get getOrDefault getOrElse getOrPut getValue merge pop put putIfAbsent remove setdefault
   GetOrAdd GetValueOrDefault`,
);
const GIVE_RESULT = wordSet("apply call get getNow join resultNow Load Swap");
const GIVE_FUNCTION = wordSet("completeOnTimeout exceptionally orTimeout toCompletableFuture whenComplete");
const HAND_RESULT = wordSet(
  `handle thenAccept thenAcceptAsync thenApply thenApplyAsync thenCombine thenCompose thenComposeAsync whenComplete`,
);
const GIVE_MAP = wordSet(
  "filter filterKeys filterNot filterValues minus onEach orEmpty plus toMap toMutableMap toSortedMap",
);
const GIVE_ENTRIES = wordSet("entries entrySet items");
/** Methods whose callback gets the elements. */
const HAND_ELEMENT = wordSet(
  `allMatch anyMatch every filter find findIndex findLast flatMap forEach ifPresent map mapToInt mapToObj noneMatch peek removeIf some sort
   toSorted All Any Average Count DistinctBy Exists Find FindAll FindIndex FindLast First FirstOrDefault ForEach GroupBy Last LastOrDefault Max
   MaxBy Min MinBy OrderBy OrderByDescending RemoveAll Select SelectMany Single SingleOrDefault SkipWhile Sum TakeWhile ThenBy ThenByDescending
   ToDictionary ToLookup TrueForAll Where all any associate associateBy associateWith collect collectLatest count distinctBy dropWhile
   filterNot first firstNotNullOf firstOrNull groupBy indexOfFirst indexOfLast last lastOrNull mapLatest mapNotNull maxBy maxByOrNull maxOf
   minBy minByOrNull minOf none onEach onSuccess partition single singleOrNull sortBy sortByDescending sortedBy sortedByDescending sumOf
   takeWhile`,
);
/** Methods whose callback gets an element as its second parameter. */
const HAND_SECOND = wordSet(
  `Aggregate filterIndexed fold forEachIndexed mapIndexed mapIndexedNotNull onEachIndexed reduce reduceRight`,
);

/** What a method of a container gives in a file, by the types around its elements; undefined where that is not known. `called`: the key of the method. */
export function givenBy(around: readonly Wrapping[], called: string, path: string): readonly Wrapping[] | undefined {
  if (path.endsWith(".rs")) return givenByRust(around, called);
  const method = methodName(called);
  const isCpp = IN_PROGRAM.test(path);
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
const HAND_ENTRY = wordSet("mapKeys mapValues");

/** What a method of a container hands in a file to the function that is its argument `outer`, as the parameter `inner` of that. */
export function handedBy(
  around: readonly Wrapping[],
  called: string,
  { outer, inner }: { outer: number; inner: number },
  path: string,
): readonly Wrapping[] | undefined {
  if (path.endsWith(".rs")) return handedByRust(around, called, outer, inner);
  const method = methodName(called);
  const outermost = around.at(-1);
  const inside = around.slice(0, -1);
  const isFirst = outer === 0 && inner === 0;
  const isSecond = outer === 0 && inner === 1;
  if (outermost === LIST) {
    if (HAND_ELEMENT.has(method)) return isFirst || /sort/i.test(method) ? inside : undefined;
    return HAND_SECOND.has(method) && inner === 1 ? inside : undefined;
  }
  if (outermost === FUNCTION) return HAND_RESULT.has(method) && isFirst ? inside : undefined;
  if (outermost !== MAP) return undefined;
  if (isKotlin(path)) {
    if (method === "filterValues" || isSecond) return inside;
    return HAND_ELEMENT.has(method) || HAND_ENTRY.has(method) ? [...inside, ENTRY] : undefined;
  }
  // A map of Java hands over the key first, one of JavaScript the value.
  return method === "forEach" && (path.endsWith(".java") ? isSecond : isFirst) ? inside : undefined;
}

/** What types of Rust's standard library, and of crates that are used like it, hold, give and hand to closures. */
import { wordSet } from "../../lib/word-set.ts";
import { CELL, ENTRY, GUARD, holderIn, type Holders, LIST, MAP, OPTIONAL, POINTER, type Wrapping } from "./wrapped.ts";

/** Generic types that hold values of one of their arguments: what they are around it, and which argument that is. */
const HOLDERS: Holders = [
  [
    wordSet(
      "Arc Box Cow Lazy LazyCell LazyLock ManuallyDrop MutexGuard Pin Rc Ref RefMut RwLockReadGuard RwLockWriteGuard",
    ),
    POINTER,
    0,
  ],
  [
    wordSet(
      `BTreeSet BinaryHeap DoubleEndedIterator ExactSizeIterator FuturesUnordered FxHashSet HashSet IndexSet IntoIterator
       Iterator LinkedList ParallelIterator Peekable Receiver SmallVec Stream UnboundedReceiver Vec VecDeque`,
    ),
    LIST,
    0,
  ],
  [wordSet("AHashMap BTreeMap FxHashMap HashMap IndexMap"), MAP, 1],
  [wordSet("Mutex OnceCell OnceLock RefCell RwLock Weak"), CELL, 0],
];

/** What a generic type is around one of its arguments, and the position of that; undefined for other types. */
export function holderNamed(name: string): ReturnType<typeof holderIn> {
  // `Option`, `Result`, and the results that modules declare for their errors.
  if (/^(?:Option|\w*Result)$/.test(name)) return { wrapping: OPTIONAL, at: 0 };
  return holderIn(HOLDERS, name);
}

/** Methods of a type, by name, with what they give around what the type holds. */
const methods = (...each: readonly (readonly [names: string, given: readonly Wrapping[]])[]) =>
  new Map(each.flatMap(([names, given]) => Array.from(wordSet(names), (name) => [name, given] as const)));

const METHODS: ReadonlyMap<Wrapping, ReadonlyMap<string, readonly Wrapping[]>> = new Map([
  [
    LIST,
    methods(
      ["remove swap_remove", []],
      [
        `back back_mut choose find first first_mut front front_mut get get_mut last last_mut max max_by max_by_key min min_by
         min_by_key next next_back nth peek peek_mut pop pop_back pop_first pop_front pop_last recv recv_timeout reduce
         try_recv`,
        [OPTIONAL],
      ],
      [
        `as_mut as_mut_slice as_ref as_slice by_ref chain cloned collect copied cycle difference drain filter fuse inspect
         intersection into_boxed_slice into_iter into_par_iter into_sorted_vec into_vec iter iter_mut par_iter par_iter_mut
         peekable rev skip skip_while sorted sorted_by sorted_by_key split_off step_by symmetric_difference take take_while
         to_owned to_vec union unique unique_by`,
        [LIST],
      ],
      ["chunks chunks_exact chunks_mut rchunks windows", [LIST, LIST]],
      ["enumerate", [ENTRY, LIST]],
    ),
  ],
  [
    MAP,
    methods(
      // Of entries, which are taken for the map itself.
      ["or_default or_insert or_insert_with or_insert_with_key", []],
      ["get get_mut insert remove shift_remove swap_remove", [OPTIONAL]],
      ["into_values values values_mut", [LIST]],
      ["drain into_iter iter iter_mut range range_mut", [ENTRY, LIST]],
      ["first_key_value get_key_value last_key_value pop_first pop_last remove_entry", [ENTRY, OPTIONAL]],
      ["and_modify as_mut as_ref entry to_owned", [MAP]],
    ),
  ],
  [
    OPTIONAL,
    methods(
      ["get_or_insert get_or_insert_with insert", []],
      [
        `as_deref as_deref_mut as_mut as_ref cloned context copied filter inspect inspect_err map_err ok ok_or ok_or_else or
         or_else replace take to_owned transpose with_context wrap_err wrap_err_with`,
        [OPTIONAL],
      ],
      ["into_iter iter iter_mut", [LIST]],
    ),
  ],
  [
    CELL,
    methods(
      ["borrow borrow_mut get_mut into_inner lock read write", [GUARD]],
      ["get get_or_try_init try_borrow try_borrow_mut try_lock try_read try_write", [POINTER, OPTIONAL]],
      ["upgrade", [POINTER, OPTIONAL]],
      ["get_or_init replace take", []],
    ),
  ],
  // They may be methods of the target as well, but those of the pointer come first.
  [POINTER, methods(["as_mut as_ref deref deref_mut into_owned", []])],
]);

/** The types around what a method is called on, without pointers to a type that has methods of its own. */
function seenThrough(around: readonly Wrapping[]): readonly Wrapping[] {
  let of = around;
  while (of.length > 1 && (of.at(-1) === POINTER || of.at(-1) === GUARD)) of = of.slice(0, -1);
  return of;
}

/** What a method gives, by the types around the value that it is called on; undefined where that is not known. */
export function givenByRust(around: readonly Wrapping[], method: string): readonly Wrapping[] | undefined {
  const of = seenThrough(around);
  const outermost = of.at(-1);
  const inside = of.slice(0, -1);
  if (method === "flatten" && (outermost === LIST || outermost === OPTIONAL)) {
    const held = inside.at(-1);
    return held === LIST || held === OPTIONAL ? [...inside.slice(0, -1), outermost] : undefined;
  }
  const given = outermost && METHODS.get(outermost)?.get(method);
  return given && [...inside, ...given];
}

/** Methods whose first argument is a closure that gets an element, or two of them. */
const OF_ELEMENTS = wordSet(
  `all any filter filter_map find find_map flat_map for_each inspect is_sorted_by_key map map_while max_by max_by_key min_by
   min_by_key partition position reduce retain retain_mut skip_while sort_by sort_by_cached_key sort_by_key sort_unstable_by
   sort_unstable_by_key sorted_by sorted_by_key take_while try_for_each dedup_by dedup_by_key unique_by chunk_by group_by`,
);
const OF_TWO = wordSet("max_by min_by reduce sort_by sort_unstable_by sorted_by dedup_by");
/** Methods whose second argument is a closure: it gets an element as its second parameter. */
const FOLDING = wordSet("fold rfold try_fold scan");
const OF_OPTIONAL = wordSet("and_then filter inspect is_none_or is_ok_and is_some_and map");

/** What a method hands to the closure at a position of its arguments, as the closure's parameter `inner`. */
export function handedByRust(
  around: readonly Wrapping[],
  method: string,
  outer: number,
  inner: number,
): readonly Wrapping[] | undefined {
  const of = seenThrough(around);
  const inside = of.slice(0, -1);
  const outermost = of.at(-1);
  const isFirst = outer === 0 && inner === 0;
  if (outermost === LIST) {
    if (FOLDING.has(method)) return outer === 1 && inner === 1 ? inside : undefined;
    return OF_ELEMENTS.has(method) && (isFirst || (outer === 0 && OF_TWO.has(method))) ? inside : undefined;
  }
  if (outermost === MAP) {
    if (method === "retain") return outer === 0 && inner === 1 ? inside : undefined;
    return method === "and_modify" && isFirst ? inside : undefined;
  }
  if (outermost !== OPTIONAL) return undefined;
  if (/^map_or(?:_else)?$/.test(method)) return outer === 1 && inner === 0 ? inside : undefined;
  return OF_OPTIONAL.has(method) && isFirst ? inside : undefined;
}

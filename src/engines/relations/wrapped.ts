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

const WRAPPINGS = [OPTIONAL, POINTER, CELL, GUARD, SMART, LIST, MAP, ENTRY, ITERATOR, FUNCTION, PREDICATE] as const;
export type Wrapping = (typeof WRAPPINGS)[number];

/** Generic types of a library that hold values of one of their type arguments: what they are around it, and which argument that is. */
export type Holders = readonly (readonly [names: ReadonlySet<string>, wrapping: Wrapping, at: number])[];

/** How a generic type of a name holds a type argument; undefined for other types. */
export function holderIn(holders: Holders, name: string): { wrapping: Wrapping; at: number } | undefined {
  const found = holders.find(([names]) => names.has(name));
  return found && { wrapping: found[1], at: found[2] };
}

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

/** The name of a method: names of those of Java end with the number of their parameters, and their types, those of PHP with `()`. */
export const methodName = (name: string): string => {
  const end = name.search(/\/\d|\(\)$/);
  return end < 0 ? name : name.slice(0, end);
};

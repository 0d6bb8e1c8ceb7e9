/**
 * Types around another type: names of members that no source can have. A value of `Option<T>` is the member `OPTIONAL` of `T`, one of
 * `Arc<T>` the member `POINTER`; `UNWRAPPED` is what `?` and `unwrap` give.
 */
export const OPTIONAL = "<optional>";
export const POINTER = "<pointer>";
export const UNWRAPPED = "<unwrapped>";

/** A `unique_ptr` or `shared_ptr` of C++, whose target is behind `->`. */
export const SMART = "<smart pointer>";
/** What `->` leads to: the target of a smart pointer, or what a plain pointer points to. */
export const ARROW = "<arrow>";

export type Wrapping = typeof OPTIONAL | typeof POINTER | typeof SMART;

export const isWrapping = (name: string): name is Wrapping => name === OPTIONAL || name === POINTER || name === SMART;

/** Methods that the pointer type defines itself, or that both it and its target may get from a trait. */
const OF_POINTERS =
  /^(?:clone|clone_from|as_ref|as_mut|borrow|borrow_mut|deref|deref_mut|fmt|eq|ne|cmp|partial_cmp|hash|into|try_into|to_owned|to_string|drop|as_ptr|is_borrowed|into_owned|to_mut)$/;

/** Whether a member of a wrapped value is the member of what is wrapped. */
export const isSeenThrough = (wrapping: Wrapping, name: string): boolean =>
  wrapping === POINTER && !OF_POINTERS.test(name);

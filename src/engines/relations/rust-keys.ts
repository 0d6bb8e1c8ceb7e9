/** Keys of bindings and members of Rust that would collide under their plain names. No identifier has a space. */

/** Key of the binding for a module: a function or type may have its name. */
export const moduleKey = (name: string): string => `mod ${name}`;
export const isModuleKey = (key: string): boolean => key.startsWith(moduleKey(""));
/** Key of the binding for a macro: a function may have its name. */
export const macroKey = (name: string): string => `macro ${name}`;
/** The name of a macro where it is used. */
export const macroName = (name: string): string => `${name}!`;
/** Key of the member for a field: a method may have its name. */
export const fieldKey = (name: string): string => `field ${name}`;
/** Key that marks the scope of a module inside of a file. */
export const MODULE_MARK = "module ";
export const SELF_TYPE = "Self";

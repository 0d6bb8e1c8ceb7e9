// By its path: the package exports only scripts that compile the file while they load, which Workers do not allow. Its types describe
// what an instance exports; a Worker's import is the module.
import * as imported from "../../../node_modules/rregex/lib/rregex.wasm";

/** The WebAssembly of the regular expressions. */
export default (imported as unknown as { default: WebAssembly.Module }).default;

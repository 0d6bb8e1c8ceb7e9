/**
 * WebAssembly as used here. The type packages of Node and of Workers each declare a different part of it; the global
 * itself is the same in both.
 */
export interface WasmMemory {
  readonly buffer: ArrayBuffer;
}

export type WasmFunction = (...args: number[]) => number;

export interface WasmInstance {
  exports: Record<string, WasmFunction>;
}

export type WasmImports = Record<string, Record<string, unknown>>;

interface WasmGlobal {
  Instance: new (module: WebAssembly.Module, imports: WasmImports) => WasmInstance;
  /** Compiles; not allowed in Workers, where modules come compiled. */
  Module: new (bytes: Uint8Array) => WebAssembly.Module;
  /** A trap. */
  RuntimeError: new (message?: string) => Error;
}

export const wasm = (globalThis as unknown as { WebAssembly: WasmGlobal }).WebAssembly;

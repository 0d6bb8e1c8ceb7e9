/**
 * The used subset of the WebAssembly API. The type packages of Node and Workers each declare a different part; the global
 * is the same in both.
 */
export interface WasmMemory {
  readonly buffer: ArrayBuffer;
  /** Adds pages of 64 KiB. */
  grow(pages: number): number;
}

export type WasmFunction = (...args: number[]) => number;

interface WasmInstance {
  exports: Record<string, WasmFunction>;
}

export interface WasmTable {
  readonly length: number;
  grow(entries: number): number;
}

export interface WasmGlobalVariable {
  value: number;
}

export type WasmImports = Record<string, Record<string, unknown>>;

interface WasmGlobal {
  Instance: new (module: WebAssembly.Module, imports: WasmImports) => WasmInstance;
  /** Not allowed in Workers, where modules are precompiled. */
  Module: {
    new (bytes: Uint8Array): WebAssembly.Module;
    customSections(module: WebAssembly.Module, name: string): ArrayBuffer[];
    imports(module: WebAssembly.Module): { module: string; name: string; kind: string }[];
  };
  Memory: new (limits: { initial: number; maximum: number }) => WasmMemory;
  Table: new (description: { element: "anyfunc"; initial: number }) => WasmTable;
  Global: new (description: { value: "i32"; mutable: boolean }, value: number) => WasmGlobalVariable;
  /** A trap. */
  RuntimeError: new (message?: string) => Error;
}

export const wasm = (globalThis as unknown as { WebAssembly: WasmGlobal }).WebAssembly;

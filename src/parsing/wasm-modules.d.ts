/** What a `CompiledWasm` rule makes of an import. */
declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}

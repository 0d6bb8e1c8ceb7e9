/** Type of an import under a `CompiledWasm` rule. */
declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}

/**
 * Prints the calls of TypeScript and JavaScript files as the compiler's checker resolves them; the form is that of gold.go.
 * `node gold.mjs <compiler's API> <checkout> < <paths, a line each>`
 */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

const [, , library, root] = process.argv;
const { default: ts } = await import(library);
const files = readFileSync(0, "utf8")
  .split("\n")
  .filter((own) => own !== "");
const options = {
  allowJs: true,
  checkJs: true,
  noEmit: true,
  jsx: ts.JsxEmit.Preserve,
  target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
  strict: true,
  types: [],
};
const program = ts.createProgram(
  files.map((own) => path.join(root, own)),
  options,
  { ...ts.createCompilerHost(options), resolveModuleNameLiterals },
);
const checker = program.getTypeChecker();
const rows = [];

for (const own of files) {
  const source = program.getSourceFile(path.join(root, own));
  const visit = (node) => {
    if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
      add(source, own, node.expression);
      if (isOfFunctions(node.expression)) add(source, own, node.expression.expression);
    }
    ts.forEachChild(node, visit);
  };
  if (source) visit(source);
}
process.stdout.write(rows.join(""));

/** `f.call(…)`, `f.apply(…)` and `f.bind(…)` are uses of `f`. */
function isOfFunctions(called) {
  if (!ts.isPropertyAccessExpression(called) || !/^(?:call|apply|bind)$/.test(called.name.text)) return false;
  const declarations = checker.getSymbolAtLocation(called.name)?.declarations ?? [];
  return declarations.some((each) => /^(?:Callable|Newable)?Function$/.test(each.parent.name?.text ?? ""));
}

function add(source, own, called) {
  const id = ts.isPropertyAccessExpression(called) ? called.name : called;
  if (!ts.isIdentifier(id) && !ts.isPrivateIdentifier(id)) return;
  const written = checker.getSymbolAtLocation(id);
  // The checker knows nothing of the receiver.
  if (!written && ts.isPropertyAccessExpression(called)) return;
  const symbol = written && written.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(written) : written;
  const line = source.getLineAndCharacterOfPosition(id.getStart(source)).line + 1;
  const all = (symbol?.declarations ?? []).flatMap((each) => functionsBehind(each, called));
  const declarations = all.filter((each) => !ts.isParameter(each) && !ts.isBindingElement(each) && !isLocalValue(each));
  // The checker does not follow a name of a pattern to the member that it takes.
  const isTaken = all.some((each) => ts.isBindingElement(each));
  if (declarations.length === 0) rows.push(`${own}\t${line}\t${id.text}\t${isTaken ? "dispatch" : "-"}\t0\n`);
  for (const each of declarations) {
    const file = each.getSourceFile();
    const name = ts.getNameOfDeclaration(each) ?? each;
    const at = file.getLineAndCharacterOfPosition(name.getStart(file)).line + 1;
    const isAbstract =
      ts.isMethodSignature(each) ||
      isMade(each) ||
      (ts.canHaveModifiers(each) && ts.getModifiers(each)?.some(({ kind }) => kind === ts.SyntaxKind.AbstractKeyword));
    rows.push(`${own}\t${line}\t${id.text}\t${isAbstract ? "dispatch" : path.relative(root, file.fileName)}\t${at}\n`);
  }
}

/** The functions that `module.exports = …` or a property `{ name }` stands for; else the declaration itself. */
function functionsBehind(declaration, called) {
  const isModule = ts.isBinaryExpression(declaration) && declaration.left.getText() === "module.exports";
  if (!isModule && !ts.isShorthandPropertyAssignment(declaration)) return [declaration];
  const type = checker.getTypeAtLocation(called);
  const found = [...type.getCallSignatures(), ...type.getConstructSignatures()].map((each) => each.declaration);
  const own = found.filter((each) => each && (each.name || ts.isVariableDeclaration(each.parent)));
  return own.length === 0 ? [declaration] : own.map((each) => (each.name ? each : each.parent));
}

/** What a call gives: the function that it returns is another one than the variable. */
function isMade(node) {
  return (
    ts.isShorthandPropertyAssignment(node) ||
    (ts.isVariableDeclaration(node) && node.initializer !== undefined && ts.isCallExpression(node.initializer))
  );
}

/** A variable inside of a function whose value is not written as a function: what it holds is not its definition. */
function isLocalValue(node) {
  if (!ts.isVariableDeclaration(node) || ts.isSourceFile(node.parent.parent.parent)) return false;
  const value = node.initializer;
  return !(value && (ts.isArrowFunction(value) || ts.isFunctionExpression(value) || ts.isClassExpression(value)));
}

/** What JavaScript imports is the script that is run, where declarations written by hand stand beside it. */
function resolveModuleNameLiterals(literals, from, redirected, compilerOptions, source) {
  return literals.map((literal) => {
    const mode = ts.getModeForUsageLocation(source, literal, compilerOptions);
    const found = ts.resolveModuleName(literal.text, from, compilerOptions, ts.sys, undefined, redirected, mode);
    const { resolvedFileName } = found.resolvedModule ?? {};
    const script = resolvedFileName?.replace(/\.d\.ts$/, ".js");
    if (!/\.[cm]?jsx?$/.test(from) || script === resolvedFileName || !existsSync(script)) return found;
    return { resolvedModule: { ...found.resolvedModule, resolvedFileName: script, extension: ts.Extension.Js } };
  });
}

/** Shipped grammars, by the name of their wasm file. */
export type GrammarName =
  | "typescript"
  | "tsx"
  | "javascript"
  | "python"
  | "go"
  | "rust"
  | "java"
  | "c"
  | "cpp"
  | "csharp"
  | "ruby"
  | "php"
  | "kotlin"
  | "swift"
  | "scala"
  | "bash"
  | "lua"
  | "elixir"
  | "zig"
  | "dart";

/** Where compiled WebAssembly comes from: the bundle in a Worker, files in Node. */
export interface GrammarSource {
  core(): WebAssembly.Module | Promise<WebAssembly.Module>;
  grammar(name: GrammarName): WebAssembly.Module | Promise<WebAssembly.Module>;
}

export interface LanguageInfo {
  id: string;
  name: string;
  /** Without the dot, lower case. */
  extensions: readonly string[];
  /** Whole file names, lower case. */
  filenames: readonly string[];
  /** Interpreter names of a `#!` line. */
  shebangs?: readonly string[];
  grammar?: GrammarName;
  /** How its files are read: by a grammar, by their sections, by lines that look like declarations, or as text. */
  mode: "syntax" | "structure" | "declarations" | "plain";
}

/** Makes the rows of languages without a grammar, which are read in the same way. */
function rowsOf(mode: LanguageInfo["mode"]) {
  return <const Id extends string>(
    id: Id,
    name: string,
    extensions: readonly string[],
    filenames: readonly string[] = [],
    shebangs: readonly string[] = [],
  ): LanguageInfo & { id: Id } => ({ id, name, extensions, filenames, shebangs, mode });
}

const structure = rowsOf("structure");
const declared = rowsOf("declarations");
const plain = rowsOf("plain");

/** All supported languages. The order has no effect; an extension belongs to one language. */
export const LANGUAGES = [
  syntax("typescript", "TypeScript", "typescript", ["ts", "mts", "cts"], [], ["deno", "ts-node", "tsx", "bun"]),
  syntax("tsx", "TSX", "tsx", ["tsx"]),
  syntax(
    "javascript",
    "JavaScript",
    "javascript",
    ["js", "mjs", "cjs", "jsx", "es6"],
    ["jakefile"],
    ["node", "nodejs"],
  ),
  syntax(
    "python",
    "Python",
    "python",
    ["py", "pyi", "pyw"],
    ["sconstruct", "sconscript", "wscript"],
    ["python", "pypy"],
  ),
  syntax("go", "Go", "go", ["go"]),
  syntax("rust", "Rust", "rust", ["rs"]),
  syntax("java", "Java", "java", ["java"]),
  syntax("c", "C", "c", ["c", "h"]),
  syntax("cpp", "C++", "cpp", [
    "cc",
    "cpp",
    "cxx",
    "c++",
    "hh",
    "hpp",
    "hxx",
    "h++",
    "ipp",
    "inl",
    "tpp",
    "cu",
    "cuh",
    "ino",
  ]),
  syntax("yacc", "Yacc", "c", ["y"]),
  syntax("lex", "Lex", "c", ["l"]),
  syntax("csharp", "C#", "csharp", ["cs", "csx"]),
  syntax(
    "ruby",
    "Ruby",
    "ruby",
    ["rb", "rake", "gemspec", "ru", "podspec", "rbi", "jbuilder"],
    ["rakefile", "gemfile", "guardfile", "podfile", "fastfile", "vagrantfile", "brewfile", "capfile"],
    ["ruby", "jruby", "rake"],
  ),
  syntax("php", "PHP", "php", ["php", "phtml", "php5", "php7", "php8", "inc"], [], ["php"]),
  syntax("kotlin", "Kotlin", "kotlin", ["kt", "kts"]),
  syntax("swift", "Swift", "swift", ["swift"], [], ["swift"]),
  syntax("scala", "Scala", "scala", ["scala", "sc", "sbt", "mill"], [], ["scala"]),
  syntax(
    "bash",
    "Shell",
    "bash",
    ["sh", "bash", "zsh", "ksh", "bats", "ebuild"],
    [".bashrc", ".bash_profile", ".bash_aliases", ".profile", ".zshrc", ".zprofile", ".zshenv", "pkgbuild"],
    ["sh", "bash", "dash", "zsh", "ksh", "ash"],
  ),
  syntax("lua", "Lua", "lua", ["lua", "rockspec"], [], ["lua", "luajit"]),
  syntax("elixir", "Elixir", "elixir", ["ex", "exs"], [], ["elixir"]),
  syntax("zig", "Zig", "zig", ["zig", "zon"]),
  syntax("dart", "Dart", "dart", ["dart"]),
  syntax(
    "starlark",
    "Starlark",
    "python",
    ["bzl", "star"],
    ["build", "build.bazel", "workspace", "workspace.bazel", "module.bazel", "buck", "tiltfile"],
  ),
  syntax("notebook", "Jupyter notebook", "python", ["ipynb"]),
  syntax("vue", "Vue", "typescript", ["vue"]),
  syntax("blade", "Blade", "php", ["blade.php"]),
  syntax("razor", "Razor", "csharp", ["cshtml", "razor"]),
  syntax("erb", "ERB", "ruby", ["erb", "rhtml"]),
  syntax("haml", "HAML", "ruby", ["haml"]),
  syntax("slim", "Slim", "ruby", ["slim"]),
  syntax("svelte", "Svelte", "typescript", ["svelte"]),
  syntax("astro", "Astro", "tsx", ["astro"]),
  structure("markdown", "Markdown", ["md", "markdown", "mdx", "mdown", "mkd", "rmd", "qmd", "svx"]),
  structure("yaml", "YAML", ["yaml", "yml"], [".clang-format", ".clang-tidy"]),
  structure("toml", "TOML", ["toml"]),
  structure(
    "json",
    "JSON",
    ["json", "jsonc", "json5", "webmanifest", "geojson", "topojson"],
    [".babelrc", ".eslintrc", ".prettierrc"],
  ),
  structure("html", "HTML", ["html", "htm", "xhtml"]),
  structure("css", "CSS", ["css", "scss", "less", "pcss", "postcss"]),
  structure("sql", "SQL", ["sql", "ddl", "psql", "pgsql", "pks", "pkb", "plsql"]),
  structure("dockerfile", "Dockerfile", ["dockerfile", "containerfile"], ["dockerfile", "containerfile"]),
  structure("makefile", "Makefile", ["mk", "mak", "make"], ["makefile", "gnumakefile", "kbuild"], ["make"]),
  structure("rst", "reStructuredText", ["rst"]),
  structure("rdoc", "RDoc", ["rdoc"]),
  structure("asciidoc", "AsciiDoc", ["adoc", "asciidoc", "asc"]),
  plain(
    "text",
    "Text",
    ["txt", "text"],
    ["readme", "license", "copying", "authors", "changelog", "changes", "contributing", "todo", "notice"],
  ),
  plain("xml", "XML", [
    "xml",
    "xsd",
    "xsl",
    "xslt",
    "wsdl",
    "plist",
    "csproj",
    "fsproj",
    "vbproj",
    "props",
    "targets",
    "xaml",
    "storyboard",
    "xib",
    "axaml",
    "fxml",
    "resx",
    "nuspec",
    "vcxproj",
    "qrc",
    "ui",
  ]),
  plain(
    "ini",
    "INI",
    ["ini", "cfg", "conf", "properties", "editorconfig", "service", "desktop", "godot", "tscn"],
    [".editorconfig", ".gitconfig", ".gitmodules", ".npmrc"],
  ),
  plain("go-mod", "Go Module", [], ["go.mod", "go.work"]),
  declared("grammar", "Grammar", ["g4", "peg", "pegjs", "peggy", "pest", "ebnf", "lark", "mly", "mll"]),
  declared("gherkin", "Gherkin", ["feature"]),
  declared("cython", "Cython", ["pyx", "pxd", "pxi"]),
  declared("graphql", "GraphQL", ["graphql", "gql", "graphqls"]),
  declared("protobuf", "Protocol Buffers", ["proto"]),
  declared("thrift", "Thrift", ["thrift"]),
  declared("terraform", "Terraform", ["tf", "tfvars", "hcl"]),
  declared("nix", "Nix", ["nix"]),
  declared("cmake", "CMake", ["cmake"], ["cmakelists.txt"]),
  declared("gradle", "Gradle", ["gradle"], ["jenkinsfile"]),
  declared("groovy", "Groovy", ["groovy"], [], ["groovy"]),
  declared("perl", "Perl", ["pl", "pm", "t", "perl", "raku", "rakumod"], [], ["perl"]),
  declared("r", "R", ["r"], [], ["rscript"]),
  declared("julia", "Julia", ["jl"], [], ["julia"]),
  declared("haskell", "Haskell", ["hs", "lhs"], [], ["runhaskell"]),
  declared("ocaml", "OCaml", ["ml", "mli"], [], ["ocaml"]),
  declared("fsharp", "F#", ["fs", "fsi", "fsx"]),
  declared("erlang", "Erlang", ["erl", "hrl"], ["rebar.config"], ["escript"]),
  declared("clojure", "Clojure", ["clj", "cljs", "cljc", "edn"]),
  declared("lisp", "Lisp", ["lisp", "lsp", "cl", "el", "scm", "ss", "rkt", "fnl", "janet", "hy"]),
  declared("crystal", "Crystal", ["cr"]),
  declared("nim", "Nim", ["nim", "nims"]),
  declared("d", "D", ["d", "di"]),
  declared("fortran", "Fortran", ["f", "f90", "f95", "f03", "f08", "for"]),
  declared("pascal", "Pascal", ["pas", "pp", "dpr", "dfm", "fmx", "lfm"]),
  declared("puppet", "Puppet", ["epp"]),
  declared("openscad", "OpenSCAD", ["scad"]),
  declared("ada", "Ada", ["ada", "adb", "ads"]),
  declared("vb", "Visual Basic", ["vb", "bas"]),
  declared("assembly", "Assembly", ["asm", "s", "nasm"]),
  declared("objective-c", "Objective-C", ["m", "mm"]),
  declared("solidity", "Solidity", ["sol"]),
  declared("verilog", "Verilog", ["v", "vh", "sv", "svh"]),
  declared("vhdl", "VHDL", ["vhd", "vhdl"]),
  declared("shader", "Shader", ["glsl", "vert", "frag", "hlsl", "wgsl", "metal", "comp"]),
  declared("powershell", "PowerShell", ["ps1", "psm1", "psd1"], [], ["pwsh"]),
  declared("batch", "Batch", ["bat", "cmd"]),
  declared("fish", "fish", ["fish"], [], ["fish"]),
  declared("tcl", "Tcl", ["tcl", "test"], [], ["tclsh", "wish", "expect"]),
  declared("awk", "Awk", ["awk"], [], ["awk", "gawk", "mawk"]),
  declared("vim", "Vim script", ["vim"], [".vimrc"]),
  plain("sass", "Sass", ["sass", "styl"]),
  structure("template", "Template", [
    "hbs",
    "handlebars",
    "mustache",
    "ejs",
    "pug",
    "jade",
    "jinja",
    "jinja2",
    "j2",
    "twig",
    "liquid",
    "njk",
    "tmpl",
    "tpl",
    "gotmpl",
    "eex",
    "heex",
    "leex",
    "jsp",
    "jspf",
    "jspx",
    "gsp",
    "aspx",
    "ascx",
    "asp",
    "cfm",
    "cfc",
    "mako",
    "templ",
    "marko",
    "latte",
    "volt",
    "edge",
    "ftl",
    "vm",
    "tt",
  ]),
  declared("coffeescript", "CoffeeScript", ["coffee"], ["cakefile"], ["coffee"]),
  declared("elm", "Elm", ["elm"]),
  declared("purescript", "PureScript", ["purs"]),
  declared("rescript", "ReScript", ["res", "resi", "re", "rei"]),
  declared("gleam", "Gleam", ["gleam"]),
  declared("odin", "Odin", ["odin"]),
  declared("prisma", "Prisma", ["prisma"]),
  declared("gdscript", "GDScript", ["gd"]),
  declared("nushell", "Nushell", ["nu"], [], ["nu"]),
  declared("snakemake", "Snakemake", ["smk"], ["snakefile"]),
  declared("nextflow", "Nextflow", ["nf"], [], ["nextflow"]),
  declared("stata", "Stata", ["do", "ado"]),
  declared("apex", "Apex", ["trigger"]),
  declared("haxe", "Haxe", ["hx"]),
  declared("vala", "Vala", ["vala", "vapi"]),
  declared("cairo", "Cairo", ["cairo"]),
  declared("move", "Move", ["move"]),
  declared("mojo", "Mojo", ["mojo"]),
  declared("vyper", "Vyper", ["vy", "vyi"]),
  declared("qml", "QML", ["qml"]),
  declared("cobol", "COBOL", ["cob", "cbl", "cpy"]),
  declared("abap", "ABAP", ["abap"]),
  declared("lean", "Lean", ["lean"]),
  declared("sml", "Standard ML", ["sml", "sig"]),
  declared("bicep", "Bicep", ["bicep"]),
  declared("flatbuffers", "FlatBuffers", ["fbs"]),
  declared("capnproto", "Cap'n Proto", ["capnp"]),
  declared("smithy", "Smithy", ["smithy"]),
  declared("typespec", "TypeSpec", ["tsp"]),
  declared("wit", "WIT", ["wit"]),
  plain("routes", "Routes", ["routes"], ["routes"]),
  structure("typst", "Typst", ["typ"]),
  declared("cue", "CUE", ["cue"]),
  declared("jsonnet", "Jsonnet", ["jsonnet", "libsonnet"]),
  declared("rego", "Rego", ["rego"]),
  declared("just", "Just", ["just"], ["justfile"]),
  declared("meson", "Meson", [], ["meson.build", "meson_options.txt", "meson.options"]),
  declared("autoconf", "Autoconf", ["ac", "am", "m4"], ["configure.ac"]),
  structure("latex", "LaTeX", ["tex", "sty", "cls", "bib"]),
  structure("org", "Org", ["org"]),
  plain("diff", "Diff", ["diff", "patch"]),
  plain("csv", "CSV", ["csv", "tsv"]),
  plain("http", "HTTP", ["http", "rest"]),
  plain("ignore", "Ignore list", [], [".gitignore", ".dockerignore", ".npmignore", ".gitattributes", "codeowners"]),
];

export type LanguageId = (typeof LANGUAGES)[number]["id"];

function syntax<const Id extends string>(
  id: Id,
  name: string,
  grammar: GrammarName,
  extensions: readonly string[],
  filenames: readonly string[] = [],
  shebangs: readonly string[] = [],
): LanguageInfo & { id: Id } {
  return { id, name, grammar, extensions, filenames, shebangs, mode: "syntax" };
}

import { describe, expect, it } from "vitest";
import { CalleesFinder } from "../../../src/interface/questions/relations/callees.ts";
import { callersIn, callersOf, openedOf } from "./support.ts";
import { UsesIndex } from "../../../src/engines/relations/uses-index.ts";

describe("functions that are named without being called", () => {
  it("of C are used in tables, by assignment and as arguments; other values are not", async () => {
    const files = {
      "a.c": [
        "static int one(int argc) { return 0; }",
        "static struct cmd commands[] = {",
        '	{ "one", one },', // 3
        '	{ "two", two, 1 },',
        "};",
        "static struct ops o = { .open = open_it, .mode = mode };", // 6
        "int mode = 1;",
        "void run(int *list, int n, struct ops *x, int (*given)(int)) {",
        "	qsort(list, n, sizeof(*list), (cmp_fn)compare);", // 9
        "	x->open = &open_it;",
        "	x->open = n ? open_it : one;", // 11
        "	call(given, n, MODE, list);",
        "	open_it(n);", // 13
        "}",
      ].join("\n"),
      "b.c": [
        "int two(int argc) { return 0; }",
        "int open_it(int a) { return a; }",
        "int compare(const void *a, const void *b) { return 0; }",
        "int given(int a) { return a; }",
        "struct list { int n; };",
        "int (*chosen(void))(int) { return two; }", // 6
      ].join("\n"),
    };
    expect(await callersIn(files, ["one", "two", "open_it", "compare", "given", "mode", "list"])).toEqual({
      one: ["a.c:11 certain", "a.c:3 certain"],
      two: ["a.c:4 certain", "b.c:6 certain"],
      open_it: ["a.c:10 certain", "a.c:11 certain", "a.c:13 certain", "a.c:6 certain"],
      compare: ["a.c:9 certain"],
      // A parameter has its name.
      given: [],
      mode: [],
      list: [],
    });
  });

  it("of Go are arguments, values of fields and results; the name of a field is none", async () => {
    const files = {
      "go.mod": "module acme.dev/a\n",
      "a.go": [
        "package a",
        "",
        'import ("net/http"; "acme.dev/a/sub")',
        "",
        "type Store struct { name string; Run func() }", // 5
        "",
        "func (s *Store) handle(w http.ResponseWriter) {}",
        "func (s *Store) text() string { return s.name }",
        "func Run() {}", // 9
        "func start() func() {",
        "	s := &Store{Run: other}", // 11
        '	http.HandleFunc("/", s.handle)',
        '	http.HandleFunc("/sub", sub.Handle)', // 13
        "	print(s.name, http.StatusOK, s)",
        "	s.Run = other",
        "	f := other", // 16
        "	f()",
        "	return other", // 18
        "}",
      ].join("\n"),
      "b.go": "package a\n\nfunc other() {}\n\nfunc name() {}\n",
      "sub/sub.go": "package sub\n\nfunc Handle() {}\n",
    };
    expect(await callersIn(files, ["handle", "Handle", "Run", "other", "name"])).toEqual({
      handle: ["a.go:12 certain"],
      Handle: ["a.go:13 certain"],
      Run: [],
      other: ["a.go:11 certain", "a.go:15 certain", "a.go:16 certain", "a.go:18 certain"],
      name: [],
    });
  });

  it("of Python are arguments, also of decorators, elements and results; classes and attributes are only named", async () => {
    const files = {
      "app.py": [
        "from lib import imported, Kind",
        "import lib",
        "def own(x, key=imported): return x", // 3
        "class A(lib.Base):",
        "    def start(self, own):",
        "        self.size = 1",
        "        self.then = self.stop", // 7
        "        connect(self.stop, self.size, own)",
        "        connect(self.inherited, self.unknown)", // 9
        "    def stop(self): pass",
        "    def size_of(self): return isinstance(self, Kind)",
        "@lib.register(own, name=own)", // 12
        "def wrap(f):",
        "    def inner(): return f()",
        "    return inner", // 15
        'TABLE = {"a": own, "b": [lib.other]}',
        "missing(unbound, key=None)",
      ].join("\n"),
      "lib.py": [
        "class Base:",
        "    def inherited(self): pass",
        "class Kind: pass",
        "def imported(x): return x",
        "def other(x): return x",
        "def size(x): return x",
        "def unknown(x): return x",
        "def unbound(x): return x",
        "def register(f, name): return f",
      ].join("\n"),
    };
    const names = ["own", "imported", "other", "stop", "inherited", "inner", "Kind", "size", "unknown", "unbound"];
    expect(await callersIn(files, names)).toEqual({
      own: ["app.py:12 certain", "app.py:16 certain"],
      imported: ["app.py:3 certain"],
      other: ["app.py:16 certain"],
      stop: ["app.py:7 certain", "app.py:8 certain"],
      inherited: ["app.py:9 certain"],
      inner: ["app.py:15 certain"],
      Kind: [],
      size: [],
      unknown: [],
      unbound: [],
    });
  });

  it("of Rust are paths; what an adapter is given may also be a variant or a tuple", async () => {
    const files = {
      "src/lib.rs": [
        "mod util;",
        "use util::helper;",
        "struct S { n: u32 }",
        "struct Wrapper(u32);",
        "impl S {",
        "    fn f(x: u32) -> u32 { x }",
        "    fn run(&self, other: u32) {", // 7
        "        list().map(Self::f).map(helper).map(util::third::<u8>);",
        "        Some(1).map(Wrapper);", // 9
        "        all(list().map(helper), spawn(helper, other, self.n, Wrapper));",
        "        let n = self.n;",
        "        spawn(n);", // 12
        "    }",
        "}",
        "const TABLE: &[Cmd] = &[Cmd { name: 1, run: helper }];", // 15
      ].join("\n"),
      "src/util.rs": "pub fn helper(x: u32) -> u32 { x }\npub fn third<T>(x: T) {}\npub fn other() {}\npub fn n() {}\n",
    };
    expect(await callersIn(files, ["f", "helper", "third", "Wrapper", "other", "n"])).toEqual({
      f: ["src/lib.rs:8 certain"],
      helper: ["src/lib.rs:10 certain", "src/lib.rs:15 certain", "src/lib.rs:8 certain"],
      third: ["src/lib.rs:8 certain"],
      Wrapper: ["src/lib.rs:9 certain"],
      other: [],
      n: [],
    });
  });

  it("of Java are references to methods, whatever their number of parameters", async () => {
    const files = {
      "a/A.java": [
        "package a;",
        "class A extends Base {",
        "  void own(String s) {}",
        "  static void many(String s) {}",
        "  static void many(String s, int n) {}", // 5
        "  void run(java.util.List<B> list, B b) {",
        "    list.forEach(this::own);", // 7
        "    list.forEach(A::many);",
        "    list.forEach(super::inherited);", // 9
        "    list.forEach(b::go);",
        "    list.map(B::new);", // 11
        "    list.map(Missing::go);",
        "  }",
        "}",
      ].join("\n"),
      "a/B.java": "package a;\nclass B {\n  B() {}\n  void go() {}\n}\n",
      "a/Base.java": "package a;\nclass Base {\n  void inherited(String s) {}\n}\n",
    };
    expect(await callersIn(files, ["own", "many", "inherited", "go", "B"])).toEqual({
      own: ["a/A.java:7 certain"],
      many: ["a/A.java:8 likely"],
      inherited: ["a/A.java:9 certain"],
      go: ["a/A.java:10 certain", "a/A.java:12 name"],
      B: ["a/A.java:11 certain"],
    });
  });

  it("of Kotlin are callable references", async () => {
    const files = {
      "A.kt": [
        "package a",
        "class A {",
        "  fun own(s: String) {}",
        "  fun run(list: List<String>) {",
        "    list.forEach(this::own)", // 5
        "    list.forEach(::top)",
        "    list.forEach(B::go)",
        "    list.map(::B)", // 8
        "    list.map(B::class)",
        "  }",
        "}",
      ].join("\n"),
      "B.kt": "package a\nfun top(s: String) {}\nclass B(s: String) {\n  fun go() {}\n}\n",
    };
    expect(await callersIn(files, ["own", "top", "go", "B"])).toEqual({
      own: ["A.kt:5 likely"],
      top: ["A.kt:6 likely"],
      go: ["A.kt:7 likely"],
      B: ["A.kt:8 likely"],
    });
  });

  it("of C# are groups of methods as arguments and in assignments", async () => {
    const files = {
      "A.cs": [
        "namespace N;",
        "public class A : Base {",
        "  string Title { get; set; }",
        "  void Run(Button b) {",
        "    b.Click += OnClick;", // 5
        "    list.Select(Convert);",
        "    new Thread(this.Loop);", // 7
        "    list.Select(Util.Map);",
        "    list.Select(Inherited, Title);", // 9
        "    Title = Convert(1);",
        "  }",
        "  void OnClick(object s, object e) {}",
        "  static int Convert(int x) => x;",
        "  void Loop() {}",
        "}",
      ].join("\n"),
      "B.cs": [
        "namespace N;",
        "public class Base { protected int Inherited(int x) => x; }",
        "public static class Util {",
        "  public static int Map(int x) => x;",
        "  public static int Title(int x) => x;",
        "}",
      ].join("\n"),
    };
    expect(await callersIn(files, ["OnClick", "Convert", "Loop", "Map", "Inherited", "N.Util.Title"])).toEqual({
      OnClick: ["A.cs:5 certain"],
      Convert: ["A.cs:10 certain", "A.cs:6 certain"],
      Loop: ["A.cs:7 certain"],
      Map: ["A.cs:8 certain"],
      Inherited: ["A.cs:9 certain"],
      "N.Util.Title": [],
    });
  });

  it("of PHP are pairs of an object or class and a name, and names given to functions that call them", async () => {
    const files = {
      "a.php": [
        "<?php",
        "namespace N;",
        "class A {",
        "  public function own($x) {}",
        "  public static function shared($x) {}",
        "  public function run(B $b, $list) {",
        "    array_map([$this, 'own'], $list);", // 7
        "    array_map([self::class, 'shared'], $list);",
        "    $routes = [B::class, 'index'];", // 9
        '    on(array($b, "index"));',
        "    usort($list, 'N\\compare');", // 11
        "    usort($list, '\\\\N\\\\compare');",
        "    $text = ['own', 'compare'];",
        "  }",
        "}",
      ].join("\n"),
      "b.php":
        "<?php\nnamespace N;\nclass B {\n  public function index() {}\n}\nfunction compare($a, $b) { return 0; }\n",
    };
    expect(await callersIn(files, ["own", "shared", "index", "compare"])).toEqual({
      own: ["a.php:7 certain"],
      shared: ["a.php:8 certain"],
      index: ["a.php:10 certain", "a.php:9 certain"],
      compare: ["a.php:11 certain", "a.php:12 certain"],
    });
  });

  it("of Ruby are symbols that are sent, passed as blocks or given to callbacks of a class", async () => {
    const files = {
      "a.rb": [
        "class A < Base",
        "  before_action :check, only: [:index], if: :ready?", // 2
        "  after_save :inherited",
        "  validates :name, presence: true, unless: :ready?", // 4
        "  def run(list, other)",
        "    list.map(&:label)", // 6
        "    list.map(&method(:convert))",
        "    other.each { |x| public_send(:convert, x) }", // 8
        "    log(:check)",
        "  end",
        "  def check; end",
        "  def ready?; end",
        "  def convert(x); end",
        "  def index; end",
        "  def name; end",
        "end",
      ].join("\n"),
      "base.rb": "class Base\n  def inherited; end\n  def label; end\nend\n",
    };
    const names = ["check", "ready?", "inherited", "label", "convert", "index", "name"];
    expect(await callersIn(files, names)).toEqual({
      check: ["a.rb:2 certain"],
      "ready?": ["a.rb:2 certain", "a.rb:4 certain"],
      inherited: ["a.rb:3 certain"],
      label: ["a.rb:6 name"],
      convert: ["a.rb:7 certain", "a.rb:8 certain"],
      index: [],
      name: [],
    });
  });

  it("are callees of the function that hands them over", async () => {
    const { index, texts } = await openedOf({
      "a.c":
        "int f(int a) { return a; }\nint size = 1;\nvoid run(void) {\n	on(f, size, g);\n}\nvoid on(int (*f)(int), int n) {}\n",
      "b.c": "struct g { int n; };\n",
    });
    const uses = new UsesIndex(index, texts);
    const [run] = await uses.definitions("run");
    const callees = run && (await new CalleesFinder(uses).find([{ ...run, language: "c" }], 1));
    expect(callees?.map(({ line, certainty, target }) => `${line} ${certainty} ${target?.qualifiedName}`)).toEqual([
      "4 certain on",
      "4 certain f",
    ]);
  });
});

it("a class that nothing constructs has the lines that hand it over, as likely: a framework constructs it", async () => {
  const files = {
    "home.ts": "export class Home {}\nexport class Other {}\n",
    "routes.ts":
      'import { Home, Other } from "./home";\nexport const routes = [{ path: "", component: Home }];\nregister(Other);\nnew Other();\nlet a: Home;\n',
  };
  expect(await callersOf(files, "Home")).toEqual(["routes.ts:2 likely"]);
  expect(await callersOf(files, "Other")).toEqual(["routes.ts:4 certain"]);
});

import { describe, expect, it } from "vitest";
import { callsIn } from "./support.ts";

describe("PHP", () => {
  const files = {
    "src/Store/Store.php": [
      "<?php",
      "namespace App\\Store;",
      "abstract class Base {",
      "  protected function log(): void {}",
      "  public static function open(): static { return new static(); }",
      "}",
      "trait Counts { public function count(): int { return 1; } }",
      "final class Store extends Base implements \\Countable {",
      "  use Counts;",
      "  public ?Item $item = null;",
      "  public function log(): void { parent::log(); self::open(); }",
      "  /** @return Item|null the first */",
      "  public function first() {}",
      "}",
      "class Item { public function run(): self { return $this; } }",
      "enum Kind { case One; public function label(): string {} }",
      "function helper(): Store {}",
    ].join("\n"),
    "src/Other.php": "<?php\nnamespace App;\nclass Item { function run() {} }\nfunction helper() {}\n",
    "src/global.php": "<?php\nfunction on_top() {}\nfunction helper() {}\n",
    "src/App.php": [
      "<?php",
      "namespace App;",
      "use App\\Store\\{Store, Kind as Sort};",
      "use function App\\Store\\helper as help;",
      "use App\\Store as Inner;",
      "#[Item]",
      "class App {",
      "  /** @var Inner\\Item */",
      "  private $stated;",
      "  private $given;",
      "  private $either;",
      "  /** @param Store|null $documented */",
      "  public function __construct(private readonly Store $store, Item $item, $documented, $untyped) {",
      "    $this->given = $item;",
      "    $this->either = $item;",
      "    $this->either = $untyped;",
      "    $documented->first();",
      "    $untyped->first();",
      "  }",
      "  public function run(array $all): void {",
      "    $this->store->log();",
      "    $this->store->count();",
      "    $this->store?->item->run()->run();",
      "    $this->stated->run();",
      "    $this->given->run();",
      "    $this->either->run();",
      "    Store::open()->log();",
      "    help()->first()->run();",
      "    helper();",
      "    on_top();",
      "    strlen('');",
      "    Sort::One->label();",
      "    $made = new Inner\\Store();",
      "    $made->log();",
      "    $other = $this->store;",
      "    $other->log();",
      "    $twice = new Store();",
      "    $twice = $all;",
      "    $twice->log();",
      "    foreach ($all as $each) { $each->run(); }",
      "    $close = function (Item $item) use ($made) { $item->run(); $made->log(); $this->run([]); };",
      "    try { } catch (\\App\\Item $e) { $e->run(); }",
      "    new class extends Store { function more() { $this->more(); $this->count(); } };",
      "    $this->missing();",
      "    namespace\\helper();",
      "  }",
      "}",
    ].join("\n"),
  };
  const own = "src/Store/Store.php";

  it("follows namespaces, use declarations, declared and stated types, traits and results", async () => {
    expect(await callsIn(files, "src/App.php")).toEqual([
      "Item@6 → src/Other.php:3",
      `first@17 → ${own}:13`,
      "first@18 → unknown",
      `log@21 → ${own}:11`,
      `count@22 → ${own}:7`,
      `run@23 → ${own}:15`,
      `run@23 → ${own}:15`,
      `run@24 → ${own}:15`,
      "run@25 → src/Other.php:3",
      "run@26 → src/Other.php:3 likely",
      `log@27 → ${own}:4`,
      `open@27 → ${own}:5`,
      `run@28 → ${own}:15`,
      `first@28 → ${own}:13`,
      `help@28 → ${own}:17`,
      "helper@29 → src/Other.php:4",
      "on_top@30 → src/global.php:2",
      "strlen@31 → outside",
      `label@32 → ${own}:16`,
      `Store@33 → ${own}:8`,
      `log@34 → ${own}:11`,
      `log@36 → ${own}:11`,
      `Store@37 → ${own}:8`,
      `log@39 → ${own}:11 likely`,
      "run@40 → unknown",
      "run@41 → src/Other.php:3",
      `log@41 → ${own}:11`,
      "run@41 → src/App.php:20",
      "run@42 → src/Other.php:3",
      `Store@43 → ${own}:8`,
      "more@43 → src/App.php:43",
      `count@43 → ${own}:7`,
      "missing@44 → unknown",
      "helper@45 → src/Other.php:4",
    ]);
    expect(await callsIn(files, own)).toEqual([
      `Base@5 → ${own}:3`,
      `Counts@9 → ${own}:7`,
      `Base@8 → ${own}:3`,
      "Countable@8 → outside",
      `log@11 → ${own}:4`,
      `open@11 → ${own}:5`,
    ]);
  });

  it("abstains from classes that are defined twice, and keeps namespaces of one file apart", async () => {
    const twice = {
      "a.php": "<?php\nnamespace A;\nfunction f(B $b) { $b->run(); new \\C\\D(); }\n",
      "b.php": "<?php\nnamespace A;\nclass B { function run() {} }\n",
      "c.php":
        "<?php\nnamespace A;\nclass B { function run() {} }\nnamespace C;\nclass D { function f(D $d) { $d->f(new D()); } }\n",
    };
    expect(await callsIn(twice, "a.php")).toEqual(["run@3 → unknown", "D@3 → outside"]);
    expect(await callsIn(twice, "c.php")).toEqual(["f@5 → c.php:5", "D@5 → c.php:5"]);
  });

  it("knows the methods that the documentation of a class declares, and their results", async () => {
    const facade = {
      "Route.php": [
        "<?php",
        "namespace App\\Facades;",
        "/**",
        " * @see Router",
        " * @method static \\App\\Entry get(string $uri, callable(int): string $action = null)",
        " * @method static string|null named(string $name)",
        " */",
        "final class Route {",
        "  public static function named() {}",
        "}",
      ].join("\n"),
      "Entry.php": "<?php\nnamespace App;\nclass Entry { function only() {} }\n",
      "web.php": "<?php\nuse App\\Facades\\Route;\nRoute::get('/')->only();\nRoute::named('a');\nRoute::missing();\n",
    };
    expect(await callsIn(facade, "web.php")).toEqual([
      "only@3 → Entry.php:3",
      "get@3 → Route.php:5",
      "named@4 → Route.php:9",
      "missing@5 → unknown",
    ]);
  });

  it("finds a class among many files whose namespace or methods have its name", async () => {
    const many = Array.from({ length: 60 }, (_, i) => [
      `src/Queue/${i}.php`,
      `<?php\nnamespace App\\Queue;\nclass Job${i} { function queue() {} }\n`,
    ]);
    const files: Record<string, string> = {
      ...Object.fromEntries(many),
      "src/Facades/Queue.php": "<?php\nnamespace App\\Facades;\nclass Queue { static function push() {} }\n",
      "src/app.php": "<?php\nuse App\\Facades\\Queue;\nQueue::push();\n",
    };
    expect(await callsIn(files, "src/app.php")).toEqual(["push@3 → src/Facades/Queue.php:3"]);
  });

  it.each([
    ["classes that extend each other", "class A extends B {} class B extends A { function m() { $this->none(); } }"],
    ["deep expressions", `function f() { return ${"(".repeat(3_000)}f()${")".repeat(3_000)}; }`],
    ["long chains", `class A { function f(): self { return $this${"->f()".repeat(2_000)}; } }`],
    ["variables that lead to each other", "function f() { $a = $b; $b = $a; $a->run(); }"],
    ["many assignments", `function f() { ${"$a = new A(); ".repeat(4_000)} $a->run(); }`],
    ["documented methods", `/** ${"\\n * @method a ".repeat(40_000)}*/ class A {} A::a();`],
    ["many classes behind comments", "/* */ class A {} */ class B {}\n".repeat(4_000)],
    ["comments without end", `/** ${"@param ".repeat(4_000)}*/ function f($a) {} f();`],
  ])("bounds what it reads: %s", async (_, text) => {
    await expect(callsIn({ "a.php": `<?php\n${text}\n` }, "a.php")).resolves.toBeInstanceOf(Array);
  });
});

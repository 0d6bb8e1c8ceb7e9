import { expect, it } from "vitest";
import { callersOf } from "./support.ts";

const FILES: Record<string, string> = {
  "src/Dep.php": `<?php
namespace App;

class Other
{
    public function ping() {}
}

class Dep
{
    public function ping() {}

    public static function create(): self
    {
        return new self();
    }

    public static function make(): static
    {
        return new static();
    }

    public function fluent(): static
    {
        return $this;
    }
}

class Repo
{
    /** @var Dep[] */
    public array $deps = [];
    /** @var array<string, Dep> */
    public $map = [];
    /** @var Dep|null */
    private $typed;
    private ?Dep $opt = null;

    public function __construct(public readonly Dep $promoted, private Dep|null $union = null)
    {
    }

    /** @return Dep[] */
    public function all(): array
    {
        return $this->deps;
    }

    /** @return Dep */
    public function doc()
    {
        return $this->opt;
    }

    public function find(): ?Dep
    {
        return $this->opt;
    }

    public function inferred()
    {
        return new Dep();
    }

    /** @return iterable<Dep> */
    public function gen(): iterable
    {
        yield new Dep();
    }

    /** @return \\Generator<int, Dep> */
    public function gen2()
    {
        yield new Dep();
    }
}
`,
  "src/Use.php": `<?php
namespace App;

class UseIt
{
    private $assigned;
    /** @var Repo */
    private $repo;

    /** @param Dep[] $list */
    public function run(Repo $repo, array $list, callable $f, mixed $o, ?Dep $maybe, Dep ...$rest)
    {
        $repo->promoted->ping(); // 1
        $repo->deps[0]->ping(); // 2
        foreach ($repo->deps as $d) { $d->ping(); } // 3
        foreach ($repo->map as $k => $d2) { $d2->ping(); } // 4
        $repo->map['a']->ping(); // 5
        foreach ($repo->all() as $d3) { $d3->ping(); } // 6
        $repo->doc()->ping(); // 7
        $repo->find()?->ping(); // 8
        $repo->inferred()->ping(); // 9
        foreach ($repo->gen() as $d4) { $d4->ping(); } // 10
        foreach ($list as $d5) { $d5->ping(); } // 11
        $maybe?->ping(); // 12
        $rest[0]->ping(); // 13
        foreach ($rest as $d6) { $d6->ping(); } // 14
        Dep::create()->ping(); // 15
        Dep::make()->ping(); // 16
        Dep::make()->fluent()->ping(); // 17
        (new Dep())->ping(); // 18
        $n = new Dep();
        $n->ping(); // 19
        $c = $o ? new Dep() : Dep::create();
        $c->ping(); // 20
        $e = $maybe ?? new Dep();
        $e->ping(); // 21
        if ($o instanceof Dep) { $o->ping(); } // 22
        $m = clone $n;
        $m->ping(); // 23
        array_map(fn (Dep $x) => $x->ping(), $list); // 24
        array_map(fn ($x) => $x->ping(), $list); // 25
        array_filter($list, function ($x) { return $x->ping(); }); // 26
        $first = reset($list);
        $first->ping(); // 27
        current($list)->ping(); // 28
        array_shift($list)->ping(); // 29
        array_pop($list)->ping(); // 30
        foreach (array_filter($list) as $d7) { $d7->ping(); } // 31
        foreach (array_values($list) as $d8) { $d8->ping(); } // 32
        $this->assigned = new Dep();
        $this->assigned->ping(); // 33
        $this->repo->find()->ping(); // 34
        /** @var Dep $local */
        $local = $f();
        $local->ping(); // 35
        $arr = [new Dep(), new Dep()];
        $arr[0]->ping(); // 36
        foreach ($arr as $d9) { $d9->ping(); } // 37
        [$p, $q] = [new Dep(), new Other()];
        $p->ping(); // 38
        $fnn = fn (): Dep => new Dep();
        $fnn()->ping(); // 39
        $z = match (true) { default => new Dep() };
        $z->ping(); // 40
        foreach (array_merge($list, $list) as $d10) { $d10->ping(); } // 41
        $list[count($list) - 1]->ping(); // 42
        usort($list, fn ($a, $b) => $a->ping()); // 43
        iterator_to_array($repo->gen())[0]->ping(); // 44
        $w = $repo->find() ?: new Dep();
        $w->ping(); // 45
        assert($o instanceof Dep);
        foreach (array_slice($list, 1) as $d11) { $d11->ping(); } // 46
        foreach (array_reverse($list) as $d12) { $d12->ping(); } // 47
        $mapped = array_map(fn ($x) => new Dep(), [1]);
        $mapped[0]->ping(); // 48
        foreach ($repo->gen2() as $d13) { $d13->ping(); } // 49
        array_walk($list, function ($x) { $x->ping(); }); // 50
        ($maybe ?? $n)->ping(); // 51
        if (!$o instanceof Dep) { return; }
        $o->ping(); // 52
        $s = $maybe;
        $s->ping(); // 53
        $this->deep()->ping(); // 54
        static fn () => $n->ping(); // 55
        $dd = app(Dep::class);
        $dd->ping(); // 56
        array_walk($list, [$this, 'deep']);
        try { $t = Dep::create(); } finally { }
        $t->ping(); // 57
        end($list)->ping(); // 58
    }

    private function deep(): Dep
    {
        return new Dep();
    }
}
`,
};

it("values of PHP are followed through arrays, comments, conditions, closures and functions of the library", async () => {
  const lines = await callersOf(FILES, "App\\Dep::ping");
  const text = (FILES["src/Use.php"] ?? "").split("\n");
  const found = lines.map((each) => {
    const [, line, certainty] = /:(\d+) (\w+)$/.exec(each) ?? [];
    return { number: Number(/\d+$/.exec(text[Number(line) - 1] ?? "")?.[0]), certainty };
  });
  const sorted = found.toSorted((one, other) => one.number - other.number);
  // What a container of services gives is of the class that is asked for by custom only.
  const expected = Array.from({ length: 58 }, (_, i) => ({
    number: i + 1,
    certainty: i === 55 ? "likely" : "certain",
  }));
  expect(sorted).toEqual(expected);
});

it("values that differ, spread arrays and assignments behind a condition are not taken for one type", async () => {
  const text = `<?php
namespace App;
function run($flag, array $rest, $o) {
    $one = $flag ? new Dep() : new Other();
    $one->ping();
    $all = [new Dep(), ...$rest];
    $all[0]->ping();
    $mixed = [new Dep(), new Other()];
    $mixed[1]->ping();
    if ($o instanceof Dep) {
        $o = new Other();
        $o->ping();
    }
    if (!$o instanceof Dep) {
        log($o);
    }
    $o->ping();
}
`;
  const lines = await callersOf({ "src/Dep.php": FILES["src/Dep.php"] ?? "", "src/run.php": text }, "App\\Dep::ping");
  expect(lines.filter((each) => !each.endsWith(" name"))).toEqual([]);
});

it("a comment of thousands of tags without an end is read in linear time", async () => {
  const text = `<?php
/**
${" * @param array<(<{ $a\n * @var\n".repeat(5000)} */
function run($a) {
    $a->ping();
}
`;
  expect(await callersOf({ "src/Dep.php": FILES["src/Dep.php"] ?? "", "src/run.php": text }, "App\\Dep::ping")).toEqual(
    ["src/run.php:10005 name"],
  );
});

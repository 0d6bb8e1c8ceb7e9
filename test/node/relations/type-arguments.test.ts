import { describe, expect, it } from "vitest";
import { callersOf } from "./support.ts";

/** The numbers at the ends of lines that call the method, with how sure that is. */
async function numbered(files: Record<string, string>, name: string): Promise<string[]> {
  const lines = await callersOf(files, name);
  return lines.map((each) => {
    const [place = "", certainty] = each.split(" ");
    const [path = "", line] = place.split(":");
    const text = files[path]?.split("\n")[Number(line) - 1] ?? "";
    return `${text.slice(text.lastIndexOf(" ") + 1)} ${certainty}`;
  });
}

const numbers = (upTo: number, certainty = "certain"): string[] =>
  Array.from({ length: upTo }, (_, i) => `${i + 1} ${certainty}`);

const sorted = (lines: readonly string[]): string[] =>
  lines.toSorted((one, other) => Number.parseInt(one, 10) - Number.parseInt(other, 10));

describe("a type parameter has the type that a value's declared type gives it", () => {
  it("TypeScript", async () => {
    const text = `class Other { ping() {} }
export class Dep { ping() {} }
class Box<T> {
  item!: T;
  all: T[] = [];
  get(): T { return this.item; }
  find(): T | undefined { return this.item; }
  map<U>(f: (t: T) => U): Box<U> { return null as never; }
  same(): Box<T> { return this; }
  each(f: (t: T) => void): void {}
}
interface Repo<K, T> {
  byId(k: K): Promise<T>;
  list(): Promise<T[]>;
}
type Boxed<T> = Box<T>;
type Pair<A, B> = { left: A; right: B };
class Sub<T> extends Box<T> {}
class Holder<T> { box!: Box<T>; }
async function run(b: Box<Dep>, r: Repo<string, Dep>, p: Pair<Other, Dep>, s: Sub<Dep>, h: Holder<Dep>, bd: Boxed<Dep>) {
  b.item.ping(); // 1
  b.get().ping(); // 2
  b.all[0].ping(); // 3
  b.find()?.ping(); // 4
  b.same().get().ping(); // 5
  b.each((x) => x.ping()); // 6
  (await r.byId("a")).ping(); // 7
  const l = await r.list(); l[0].ping(); // 8
  p.right.ping(); // 9
  s.get().ping(); // 10
  h.box.get().ping(); // 11
  bd.get().ping(); // 12
  const n = new Box<Dep>(); n.item.ping(); // 13
  for (const x of b.all) x.ping(); // 14
  p.left.ping(); // Other
}
`;
    expect(sorted(await numbered({ "a.ts": text }, "Dep.ping"))).toEqual(numbers(14));
  });

  it("Java", async () => {
    const text = `package app;
import java.util.List;
import java.util.Optional;
class Other { 
  void ping() {} }
class Dep {
  void ping() {} }
class Box<T> {
  T item; List<T> all;
  T get() { return item; }
  Box<T> same() { return this; }
  Optional<T> find() { return null; }
}
class Sub<T> extends Box<T> {}
class Holder<T> { Box<T> box; }
interface Repo<K, T> {
  T byId(K k); }
class Use {
  Box<Dep> f;
  void run(Box<Dep> b, Repo<String, Dep> r, Sub<Dep> s, Holder<Dep> h, Repo<String, Other> o) {
    b.item.ping(); // 1
    b.get().ping(); // 2
    b.all.get(0).ping(); // 3
    b.find().get().ping(); // 4
    b.same().get().ping(); // 5
    r.byId("").ping(); // 6
    s.get().ping(); // 7
    h.box.get().ping(); // 8
    f.get().ping(); // 9
    new Box<Dep>().get().ping(); // 10
    var x = new Box<Dep>(); x.get().ping(); // 11
    o.byId("").ping(); // Other
  }
}
`;
    expect(sorted(await numbered({ "A.java": text }, "Dep.ping"))).toEqual(numbers(11));
  });

  it("C#", async () => {
    const text = `class Other { public void Ping() {} }
class Dep {
  public void Ping() {} }
class Box<T> {
  public T Item; public System.Collections.Generic.List<T> All;
  public T Get() { return Item; }
  public Box<T> Same() { return this; }
  public async Task<T> Find() { return Item; }
}
class Sub<T> : Box<T> {}
class Holder<T> { public Box<T> Box { get; set; } }
interface IRepo<K, T> {
  T ById(K k); }
class Use {
  Box<Dep> f;
  async void Run(Box<Dep> b, IRepo<string, Dep> r, Sub<Dep> s, Holder<Dep> h, IRepo<string, Other> o) {
    b.Item.Ping(); // 1
    b.Get().Ping(); // 2
    b.All[0].Ping(); // 3
    (await b.Find()).Ping(); // 4
    b.Same().Get().Ping(); // 5
    r.ById("").Ping(); // 6
    s.Get().Ping(); // 7
    h.Box.Get().Ping(); // 8
    f.Get().Ping(); // 9
    new Box<Dep>().Get().Ping(); // 10
    var x = new Box<Dep>(); x.Get().Ping(); // 11
    o.ById("").Ping(); // Other
  }
}
`;
    expect(sorted(await numbered({ "A.cs": text }, "Dep.Ping"))).toEqual(numbers(11));
  });

  it("Python", async () => {
    const text = `from typing import Generic, TypeVar, Optional
T = TypeVar("T")
class Other:
    def ping(self): ...
class Dep:
    def ping(self): ...
class Box(Generic[T]):
    item: T
    all: list[T]
    def get(self) -> T: ...
    def same(self) -> Box[T]: ...
    def find(self) -> Optional[T]: ...
class Holder(Generic[T]):
    box: Box[T]
class NewP[U]:
    item: U
def run(b: Box[Dep], h: Holder[Dep], n: NewP[Dep], o: Box[Other]):
    b.item.ping()  # 1
    b.get().ping()  # 2
    b.all[0].ping()  # 3
    b.find().ping()  # 4
    b.same().get().ping()  # 5
    h.box.get().ping()  # 6
    n.item.ping()  # 7
    o.get().ping()  # Other
`;
    expect(sorted(await numbered({ "a.py": text }, "Dep.ping"))).toEqual(numbers(7));
  });

  it("Kotlin, where nothing is certain", async () => {
    const text = `package app
class Other { fun ping() {} }
class Dep {
  fun ping() {} }
open class Box<T>(val item: T) {
  val all: List<T> = listOf()
  fun get(): T = item
  fun same(): Box<T> = this
  fun find(): T? = item
}
class Sub<T>(i: T) : Box<T>(i)
class Holder<T>(val box: Box<T>)
interface Repo<K, T> {
  fun byId(k: K): T }
fun run(b: Box<Dep>, r: Repo<String, Dep>, s: Sub<Dep>, h: Holder<Dep>, o: Repo<String, Other>) {
  b.item.ping() // 1
  b.get().ping() // 2
  b.all[0].ping() // 3
  b.find()?.ping() // 4
  b.same().get().ping() // 5
  r.byId("").ping() // 6
  s.get().ping() // 7
  h.box.get().ping() // 8
  o.byId("").ping() // Other
}
`;
    expect(sorted(await numbered({ "a.kt": text }, "Dep.ping"))).toEqual([...numbers(8, "likely"), "Other name"]);
  });

  it("values of types with other arguments are not taken for one", async () => {
    const text = `class Other {
  ping() {}
}
class Dep {
  ping() {}
}
class Box<T> {
  item!: T;
}
declare function first(): Box<Dep>;
declare function second(): Box<Dep>;
declare function third(): Box<Other>;
function one() {
  let same = first();
  same = second();
  same.item.ping(); // 1
  let other = first();
  other = third();
  other.item.ping(); // 2
}
class Chain<A, B> {
  next!: Chain<Chain<A, B>, Chain<A, B>>;
  last!: A;
}
function long(chain: Chain<Dep, Dep>) {
  let at = chain.next.next.next.next.next.next.next.next;
  at = chain.next.next.next.next.next.next.next.next.next;
  at.last.last.ping(); // 3
}
`;
    expect(sorted(await numbered({ "a.ts": text }, "Dep.ping"))).toEqual(["1 certain", "2 name", "3 name"]);
  });
});

import { describe, expect, it } from "vitest";
import { callersOf } from "./support.ts";

describe("a type parameter of a base has the type that the class gives it", () => {
  it("TypeScript", async () => {
    const files = {
      "base.ts": `export interface Bound {
  go(): void;
}
export class Base<K, T extends Bound> {
  item: T;
  all: T[] = [];
  constructor(protected readonly made: T) {}
  get(): T {
    this.item.go();
    return this.item;
  }
}
`,
      "real.ts": `import { Base, type Bound } from "./base.ts";
export class Real implements Bound {
  go() {}
}
class Middle<U extends Bound> extends Base<string, U> {}
class Sub extends Middle<Real> {
  run() {
    this.item.go();
    this.get().go();
    this.all[0].go();
    this.made.go();
  }
}
export function use(sub: Sub, other: Base<string, Real>) {
  sub.item.go();
  other.item.go();
}
`,
    };
    const lines = (await callersOf(files, "Real.go")).map((each) => each.replace(/^\\w+\\.ts/, ""));
    expect(lines).toEqual([
      "base.ts:9 likely",
      "real.ts:10 certain",
      "real.ts:11 certain",
      "real.ts:15 certain",
      "real.ts:16 certain",
      "real.ts:8 certain",
      "real.ts:9 certain",
    ]);
  });

  it("Java", async () => {
    const files = {
      "p/Base.java": `package p;
public class Base<T> {
  protected T item;
  public T get() {
    return item;
  }
}
`,
      "p/Real.java": `package p;
public class Real {
  public void go() {}
}
`,
      "q/Sub.java": `package q;
import p.Base;
import p.Real;
class Other {
  void go() {}
}
class Sub extends Base<Real> {
  void run(Sub other) {
    item.go();
    this.item.go();
    get().go();
    other.get().go();
  }
}
class Loop<T> extends Loop<T> {
  T own;
  void run() {
    own.go();
  }
}
`,
    };
    expect(await callersOf(files, "Real.go")).toEqual([
      "q/Sub.java:10 certain",
      "q/Sub.java:11 certain",
      "q/Sub.java:12 certain",
      "q/Sub.java:18 name",
      "q/Sub.java:9 certain",
    ]);
    expect(await callersOf(files, "Other.go")).toEqual(["q/Sub.java:18 name"]);
  });

  it("Python", async () => {
    const files = {
      "base.py": `from typing import Generic, TypeVar

T = TypeVar("T")


class Base(Generic[T]):
    item: T

    def get(self) -> T:
        return self.item


class New[U]:
    item: U
`,
      "real.py": `from base import Base, New


class Real:
    def go(self):
        pass


class Sub(Base[Real]):
    def run(self):
        self.item.go()
        self.get().go()


class Own(New[Real]):
    pass


def use(own: Own, sub: Sub):
    own.item.go()
    sub.get().go()
`,
    };
    expect(await callersOf(files, "Real.go")).toEqual([
      "real.py:11 certain",
      "real.py:12 certain",
      "real.py:20 certain",
      "real.py:21 certain",
    ]);
  });

  it("C#", async () => {
    const files = {
      "Base.cs": `namespace N;
class Base<K, T> {
  protected T item;
  public T Item { get; set; }
  public T Get() => item;
}
class Real {
  public void Go() {}
}
`,
      "Sub.cs": `using N;
class Sub : Base<string, Real> {
  void Run(Sub other) {
    item.Go();
    Item.Go();
    Get().Go();
    other.Get().Go();
  }
}
`,
    };
    expect(await callersOf(files, "Real.Go")).toEqual([4, 5, 6, 7].map((line) => `Sub.cs:${line} certain`));
  });

  it("Kotlin", async () => {
    const files = {
      "Base.kt": `package p
open class Base<K, T : Any>(val made: T) {
    lateinit var item: T
    fun get(): T = item
}
class Real {
    fun go() {}
}
class Other {
    fun go() {}
}
`,
      "Sub.kt": `package p
class Sub(real: Real) : Base<String, Real>(real) {
    fun run(other: Sub) {
        item.go()
        made.go()
        get().go()
        other.get().go()
    }
}
`,
    };
    expect(await callersOf(files, "Real.go")).toEqual([4, 5, 6, 7].map((line) => `Sub.kt:${line} likely`));
  });
});

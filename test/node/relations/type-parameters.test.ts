import { describe, expect, it } from "vitest";
import { callsIn } from "./support.ts";

const lines = (...all: string[]): string => all.join("\n");

describe("type parameters", () => {
  it("are known by their bounds in Java where they are declared, and by what a class gives them outside", async () => {
    const base = lines(
      "package p;", // 1
      "interface Maker { int make(int a); }",
      "class Other { int make(int a) { return 1; } }",
      "abstract class Base<M extends Maker, N> {",
      "  protected M maker; N other;",
      "  M own() { return maker; }",
      "  <T extends Maker> int f(T t) { return t.make(1); }",
      "  <T extends Maker & Runnable> int two(T t) { return t.make(1); }",
      "  int g() { return maker.make(2) + other.make(3); }",
      "}",
    );
    const sub = lines(
      "package p;",
      "class Sub extends Base<Maker, Other> {",
      "  int h() { return maker.make(4); }",
      "  int i() { return own().make(5); }",
      "}",
    );
    const files = { "p/Base.java": base, "p/Sub.java": sub };
    expect(await callsIn(files, "p/Base.java")).toEqual([
      "make@7 → p/Base.java:2",
      "make@8 → unknown",
      "make@9 → p/Base.java:2",
      "make@9 → unknown",
    ]);
    expect(await callsIn(files, "p/Sub.java")).toEqual([
      "Base@2 → p/Base.java:4",
      "make@3 → p/Base.java:2",
      "make@4 → p/Base.java:2",
      "own@4 → p/Base.java:6",
    ]);
  });

  it("are known by their constraints in functions of Go", async () => {
    const main = lines(
      "package a", // 1
      "type Maker interface { Make(n int) int }",
      "type Number interface { ~int | ~float64 }",
      "func F[T Maker](t T) int { return t.Make(1) }",
      "func G[T Number](t T) int { return t.Make(1) }",
      "func H[T any](t T) int { return t.Make(1) }",
      "func Same[T Maker](t T) T { return t }",
      "func I[Maker any](t Maker) { Same(t).Make(1) }",
    );
    expect(await callsIn({ "a/main.go": main }, "a/main.go")).toEqual([
      "Make@4 → a/main.go:2",
      "Make@5 → unknown",
      "Make@6 → outside",
      "Make@8 → unknown",
      "Same@8 → a/main.go:7",
    ]);
  });
});

describe("members of Java that are used without a receiver", () => {
  it("may be inherited by a class around", async () => {
    const files = {
      "p/Base.java": lines(
        "package p;", // 1
        "class Tool { void run() {} }",
        "class Base { protected Tool tool; void go() {} }",
      ),
      "p/Sub.java": lines(
        "package p;",
        "class Sub extends Base {",
        "  void a() { tool.run(); }",
        "  Runnable b() { return new Runnable() { public void run() { tool.run(); go(); } }; }",
        "  void c() { Tool.make(); }",
        "}",
      ),
    };
    expect(await callsIn(files, "p/Sub.java")).toEqual([
      "Base@2 → p/Base.java:3",
      "run@3 → p/Base.java:2",
      "Runnable@4 → outside",
      "run@4 → p/Base.java:2",
      "go@4 → p/Base.java:3",
      "make@5 → unknown",
    ]);
  });
});

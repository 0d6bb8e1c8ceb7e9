import { expect, it } from "vitest";
import { callsIn } from "./support.ts";

it("finds methods of classes that using static names, after those of the class and its bases", async () => {
  const files = {
    "A.cs": [
      "using static N.Util;",
      "using static N.More; using N;",
      "using static System.Math;",
      "namespace M;",
      "class A {",
      "  void Run() {",
      "    Help(1);", // 7
      "    Other();",
      "    Own(1);", // 9
      "    Max(1, 2);",
      "  }",
      "  void Own(int x) {}", // 12
      "}",
      "class B : Outside {",
      "  void Run() { Help(1); }", // 15
      "}",
      "class C : Base {",
      "  void Run() { Inherited(); }", // 18
      "}",
    ].join("\n"),
    "N.cs": [
      "namespace N;",
      "public static class Util {",
      "  public static int Help(int x) => x;", // 3
      "  public static void Own(int x) {}",
      "  public static void Inherited() {}",
      "}",
      "public static class More { public static void Other() {} }", // 7
      "public class Base { protected void Inherited() {} }", // 8
    ].join("\n"),
  };
  expect((await callsIn(files, "A.cs")).filter((call) => !/^(?:Outside|Base)@/.test(call))).toEqual([
    "Help@7 → N.cs:3",
    "Other@8 → N.cs:7",
    "Own@9 → A.cs:12",
    "Max@10 → outside",
    "Help@15 → N.cs:3 likely",
    "Inherited@18 → N.cs:8",
  ]);
});

import { expect, it } from "vitest";
import { callsIn } from "./support.ts";

it("is of the asserted type, what a type assertion of Go gives", async () => {
  const app = [
    "package a",
    "",
    "type Sq struct{}", // 3
    "type Shape interface{ Area() int }",
    "",
    "func (s *Sq) Area() int { return 1 }", // 6
    "func (s *Sq) Self() *Sq { return s }",
    "",
    "func run(x any) {", // 9
    "	x.(*Sq).Area()",
    "	x.(*Sq).Self().Area()",
    "	(*x.(*Sq)).Self()", // 12
    "	x.([]*Sq)[0].Self()",
    "	x.(Shape).Area()", // 14
    "	x.(interface{ Area() int }).Area()",
    "}",
  ].join("\n");
  expect(await callsIn({ "a.go": app }, "a.go")).toEqual([
    "Area@10 → a.go:6",
    "Area@11 → a.go:6",
    "Self@11 → a.go:7",
    "Self@12 → a.go:7",
    "Self@13 → a.go:7",
    "Area@14 → a.go:4",
    "Area@15 → unknown",
  ]);
});

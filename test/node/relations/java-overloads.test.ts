import { expect, it } from "vitest";
import { callsIn } from "./support.ts";

it("tells overloads of Java apart by types of one name in different packages", async () => {
  const files = {
    "A.java": `import java.lang.reflect.WildcardType;
import java.util.Map;
class A {
  static A get(javax.lang.model.type.WildcardType a, Map<String, A> b) { return null; }
  static A get(WildcardType a, Map<String, B> b) { return null; }
  static A at(java.lang.String a) { return null; }
  static A at(int a) { return null; }
  void run(WildcardType a, javax.lang.model.type.WildcardType b, Map<String, A> c) {
    get(a, c);
    get(b, c);
    at("a");
  }
}
`,
  };
  const calls = await callsIn(files, "A.java");
  expect(calls.filter((call) => /^(?:get|at)@/.test(call))).toEqual([
    "get@9 → A.java:5",
    "get@10 → A.java:4",
    "at@11 → A.java:6",
  ]);
});

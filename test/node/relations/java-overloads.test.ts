import { expect, it } from "vitest";
import { callersOf, callsIn } from "./support.ts";

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

it("does not tell overloads apart that differ by bounds, nor one whose annotated variable arguments the grammar does not read", async () => {
  const files = {
    "p/Made.java": `package p;
class Made {
  static <T> void with(T value) {}
  static <X extends Throwable> void with(X error) {}
  static <T> void of(T element) {}
  static <T> void of(T @NonNull ... elements) {
    elements[0].toString();
  }
}
`,
    "p/Use.java": `package p;
class Use {
  void run(String[] all) {
    Made.with(new Error(""));
    Made.of(all);
  }
}
`,
  };
  expect(await callersOf(files, "Made.with")).toEqual(["p/Use.java:4 name"]);
  expect(await callersOf(files, "Made.of")).toEqual(["p/Use.java:5 likely"]);
});

it("finds members that a file imports all static members of a class for", async () => {
  const files = {
    "p/Tree.java": `package p;
public interface Tree {
  final class Node {
    void ping() {}
  }
  static void helper() {}
}
`,
    "q/Use.java": `package q;
import static p.Tree.*;
class Use {
  void run(Node node) {
    helper();
    node.ping();
  }
}
class Below extends Unknown {
  void run() {
    helper();
  }
}
`,
  };
  expect(await callersOf(files, "Tree.helper")).toEqual(["q/Use.java:11 likely", "q/Use.java:5 certain"]);
  expect(await callersOf(files, "Node.ping")).toEqual(["q/Use.java:6 certain"]);
});

it("does not take what another file of the package imports for a class of the package", async () => {
  const files = {
    "p/Red.java": `package p;
import p.RedModule.Node;
interface Red {
  Node first();
}
interface RedModule {
  final class Node {
    void ping() {}
  }
}
`,
    "p/Use.java": `package p;
class Use {
  void run(Node node) {
    node.ping();
  }
}
`,
  };
  expect(await callersOf(files, "Node.ping")).toEqual(["p/Use.java:4 name"]);
});

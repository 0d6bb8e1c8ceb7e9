import { expect, it } from "vitest";
import { callersOf } from "./support.ts";

it.each([
  [
    "a.py",
    "class A:\n  def __init__(self): pass\nclass B(A): pass\nclass C(A):\n  def __init__(self):\n    super().__init__()\ndef f():\n  A()\n  B()\n  C()\n",
    "A.__init__",
    ["6 certain", "8 certain", "9 certain"],
  ],
  [
    "a.ts",
    "class A { constructor() {} }\nclass B extends A {}\nclass C extends A { constructor() { super(); } }\nnew A();\nnew B();\nnew C();\n",
    "A.constructor",
    ["4 certain", "5 certain"],
  ],
  [
    "a.php",
    "<?php\nclass A { function __construct() {} }\nclass B extends A {}\nclass C { function __construct() {} }\nfunction f() {\n  new A();\n  new B();\n  new C();\n}\n",
    "A::__construct",
    ["6 certain", "7 certain"],
  ],
  ["a.swift", "class A { init(n: Int) {} }\nfunc f() {\n  A(n: 1)\n  B(n: 1)\n}\n", "A.init", ["3 name"]],
])("constructions call the initializer of their class (%s)", async (path, text, name, callers) => {
  const found = await callersOf({ [path]: text }, name);
  expect(found).toEqual(callers.map((caller) => `${path}:${caller}`));
});

import { describe, expect, it } from "vitest";
import { callsIn } from "./support.ts";

describe("uses in a file with errors", () => {
  // The grammar takes `get` for the getter of a property, and reads nothing more of the file.
  const first = "    private fun one() {\n        val a = run {\n            two()\n        } get b\n    }\n";
  const files = {
    "a.kt": `package p\nclass A : B() {\n${first}\n    fun two() {\n        helper()\n        inherited()\n    }\n}\n`,
    "b.kt": "package p\nopen class B {\n    fun inherited() {}\n}\nfun helper() {}\n",
  };

  it("are followed outside of the functions that have them, and known by name there", async () => {
    expect(await callsIn(files, "a.kt")).toEqual([
      "B@2 → b.kt:2",
      "run@4 → unknown",
      "two@5 → unknown",
      "helper@10 → b.kt:5",
      "inherited@11 → b.kt:3",
    ]);
  });

  it("are followed there too where functions that are handed over make the first reading look fuller", async () => {
    const handing = first.replace("two()", "two(::c, ::d, ::e, ::f)");
    const own = { ...files, "a.kt": files["a.kt"].replace(first, handing) };
    expect(await callsIn(own, "a.kt")).toEqual(
      expect.arrayContaining(["helper@10 → b.kt:5", "inherited@11 → b.kt:3", "two@5 → unknown"]),
    );
  });

  it("lead to functions of C that the tree of their file lacks", async () => {
    const text = "  case 1: {\n}\nvoid dump(int x) {\n}\nstatic void own(int x) {\n}\nvoid declared(int x);\n";
    const own = { "a.c": text, "b.c": "void run(void) {\n  dump(1);\n  own(1);\n  declared(1);\n}\n" };
    expect(await callsIn(own, "b.c")).toEqual(["dump@2 → a.c:3", "own@3 → outside", "declared@4 → outside"]);
  });
});

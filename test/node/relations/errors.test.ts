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
});

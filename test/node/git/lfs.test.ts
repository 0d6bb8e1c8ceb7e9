import { describe, expect, test } from "vitest";
import { parseLfsPointer } from "../../../src/engines/git/index.ts";

const utf8 = new TextEncoder();

describe("LFS pointers", () => {
  const pointer = (oid: string, size: string): Uint8Array =>
    utf8.encode(`version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${size}\n`);
  test("are recognised", () => {
    expect(parseLfsPointer(pointer("ab".repeat(32), "42"))).toEqual({ oid: "ab".repeat(32), size: 42 });
  });
  test.each([pointer("zz".repeat(32), "42"), pointer("ab".repeat(32), "-1"), utf8.encode("version 1\n".repeat(20))])(
    "are not imagined",
    (data) => {
      expect(parseLfsPointer(data)).toBeUndefined();
    },
  );
});

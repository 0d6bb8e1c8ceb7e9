import { expect, it } from "vitest";
import * as z from "zod";
import { describeIssue, toIssue } from "../../../src/workers/api/issues.ts";
import { numberParameter } from "../../../src/contract/text.ts";

const Body = z.object({
  name: z.string().min(2).max(3),
  own: z.string().regex(/x/, "must have an x").optional(),
  count: z.int().min(1).max(5).optional(),
  share: z.number().positive().optional(),
  on: z.boolean().optional(),
  tags: z.array(z.string()).max(1).optional(),
  kind: z.enum(["a", "b"]).optional(),
  one: z.literal("1").optional(),
  op: z
    .discriminatedUnion("op", [z.object({ op: z.literal("sign") }), z.object({ op: z.literal("commit") })])
    .optional(),
});

it.each<[unknown, Record<string, string>]>([
  [null, { "": "must be an object" }],
  [{}, { name: "is required" }],
  [
    { name: 1, on: "yes", tags: "x" },
    { name: "must be a string", on: "must be true or false", tags: "must be an array" },
  ],
  [
    { name: "a", tags: ["x", "y"] },
    { name: "must have at least 2 characters", tags: "must have at most 1 items" },
  ],
  [
    { name: "abcd", tags: [1] },
    { name: "must have at most 3 characters", "tags.0": "must be a string" },
  ],
  [
    { name: "ab", count: 1.5, share: 0 },
    { count: "must be a whole number", share: "must be more than 0" },
  ],
  [
    { name: "ab", count: 0, kind: "c" },
    { count: "must be at least 1", kind: 'must be one of "a", "b"' },
  ],
  [
    { name: "ab", count: 6, one: "2" },
    { count: "must be at most 5", one: 'must be "1"' },
  ],
  [
    { name: "ab", own: "y", op: {} },
    { own: "must have an x", "op.op": 'must be one of "sign", "commit"' },
  ],
])("says of %j what each field must be", (body, expected) => {
  const issues = Body.safeParse(body, { error: describeIssue }).error?.issues.map(toIssue) ?? [];
  expect(Object.fromEntries(issues.map(({ path, message }) => [path, message]))).toEqual(expected);
});

it("takes a number of a query string only in decimal digits and within its bounds", () => {
  const parse = (value: string) => numberParameter(1, 100).safeParse(value);
  expect([parse("1").data, parse("100").data, parse("007").data]).toEqual([1, 100, 7]);
  for (const value of ["", "0", "101", "-1", "1.5", "1e1", "0x1", " 1", "1".repeat(400)]) {
    expect([value, parse(value).error?.issues.map(({ message }) => message)]).toEqual([
      value,
      ["must be a whole number from 1 to 100"],
    ]);
  }
});

import * as fc from "fast-check";
import { expect, it } from "vitest";
import { EmbedRequest, plainEmbedRequest } from "../../../src/contract/index.ts";

/** Bodies of all sorts, most of them valid or nearly so. */
const text = fc.oneof(
  { weight: 20, arbitrary: fc.string({ minLength: 1 }) },
  fc.constant(""),
  fc.integer(),
  fc.constant(null),
);
const body = fc.oneof(
  fc.jsonValue(),
  fc.record(
    {
      input: fc.oneof(
        fc.array(text, { maxLength: 4 }),
        fc.integer({ min: 126, max: 130 }).map((length) => Array.from({ length }, () => "a")),
        fc.jsonValue(),
      ),
      inputType: fc.oneof(fc.constantFrom("document", "query", "image"), fc.jsonValue()),
      model: fc.string(),
    },
    { requiredKeys: [] },
  ),
);

it("makes the same of a plain body as the schema, and leaves the rest to it", () => {
  let plain = 0;
  fc.assert(
    fc.property(body, (value) => {
      const data: unknown = JSON.parse(JSON.stringify(value));
      const quick = plainEmbedRequest(data);
      const parsed = EmbedRequest.safeParse(data);
      if (quick !== undefined) plain++;
      expect(quick).toEqual(parsed.success ? parsed.data : undefined);
    }),
    { numRuns: 2_000 },
  );
  expect(plain).toBeGreaterThan(0);
});

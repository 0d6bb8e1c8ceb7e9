/** Requests and answers of `/references`, `/path` and `/impact`. */
import * as z from "zod";
import { bodyShape, queryShape } from "./parameters.ts";
import { CALL_PATH, CERTAINTIES, IMPACT, REFERENCES, RELATIONS, type Request } from "./questions.ts";
import { SearchedIndex, type Selection, selector } from "./search.ts";
import { Line, OtherOwner, Owner } from "./shapes.ts";

const Count = z.int().min(0);

export const ReferencesQuery = z.object({ ...selector, ...queryShape(REFERENCES) });
export type ReferencesQuery = Selection & Request<typeof REFERENCES>;

export const ReferencesResponse = z
  .object({
    ok: z.literal(true),
    references: z.array(
      z.object({
        ...Owner,
        path: z.string(),
        line: Line,
        text: z.string(),
        enclosing: z.string().nullable(),
        relation: z.enum(RELATIONS).optional().describe("The relation that was asked for."),
        certainty: z.enum(CERTAINTIES).optional().describe("With `relation`: how sure the use is."),
        distance: z.int().min(1).optional().describe("With `relation`: calls from the definition; 1 is a direct use."),
        target: z
          .object({
            ...OtherOwner,
            path: z.string(),
            line: Line,
            qualifiedName: z.string(),
          })
          .optional()
          .describe(
            "With `relation`: the definition that is used, if it is known; with its repository where that is another one.",
          ),
      }),
    ),
    by: z
      .literal("name")
      .describe("References are found by name; what a name is bound to is resolved only for a `relation`."),
    total: z.int().min(0).describe("Lines found; there may be more where `truncated`."),
    truncated: z.boolean(),
    counts: z
      .object({ certain: Count, likely: Count, name: Count })
      .optional()
      .describe("With `relation`: the lines of `total` by certainty."),
    unread: z
      .int()
      .min(0)
      .optional()
      .describe("With `relation`: files that may hold more and were not looked at, because their uses are not known."),
    implementing: z
      .int()
      .min(0)
      .optional()
      .describe(
        "With `relation`: definitions that implement what is asked for, as a member of an interface. Calls of these by their own types are not listed.",
      ),
    inherited: z
      .array(z.string())
      .optional()
      .describe(
        "With `relation`: qualified names of the definitions that are meant, where the type in `name` inherits a member of that name from another one.",
      ),
    outside: z
      .array(z.string())
      .optional()
      .describe(
        "With `relation`: no index defines the name. The modules that files import it from, those with most uses first; uses by import are certain, all others are by name. Without uses, the name itself if it is that of a package that files import.",
      ),
    similar: z
      .array(z.string())
      .optional()
      .describe("With `outside`: names of definitions that may have been meant, where the uses are by name only."),
    indexes: z.array(SearchedIndex),
  })
  .meta({ id: "ReferencesResponse" });
export type ReferencesResponse = z.infer<typeof ReferencesResponse>;

export const PathQuery = z.object({ ...selector, ...queryShape(CALL_PATH) });
export type PathQuery = Selection & Request<typeof CALL_PATH>;

export const PathResponse = z
  .object({
    ok: z.literal(true),
    paths: z
      .array(
        z.array(
          z.object({
            ...OtherOwner,
            path: z.string(),
            line: Line.describe("Line of the definition's name."),
            name: z.string().describe("Qualified name."),
            certainty: z.enum(CERTAINTIES).describe("How sure the call is that leads here."),
          }),
        ),
      )
      .describe("Definitions from `from` to `to`, each called by the one before; the shortest path first."),
    truncated: z.boolean().describe("Not all calls could be followed."),
    indexes: z.array(SearchedIndex),
  })
  .meta({ id: "PathResponse" });
export type PathResponse = z.infer<typeof PathResponse>;

export const ImpactRequest = z.object({ ...selector, ...bodyShape(IMPACT) }).meta({ id: "ImpactRequest" });
export type ImpactRequest = Selection & Request<typeof IMPACT>;

export const ImpactResponse = z
  .object({
    ok: z.literal(true),
    changed: z
      .array(
        z.object({
          path: z.string(),
          symbol: z.string().nullable().describe("Qualified name; null where no definition of the file is touched."),
          kind: z.string().nullable(),
          line: Line.nullable().describe("Line of its name."),
        }),
      )
      .describe("What the change touches."),
    files: z
      .array(
        z.object({
          path: z.string(),
          test: z.boolean(),
          because: z.array(z.string()).describe("Reasons, the strongest first."),
        }),
      )
      .describe("Files that likely need a change too, or a run, by all evidence together; the likeliest first."),
    dependents: z
      .array(
        z.object({
          ...OtherOwner,
          path: z.string(),
          line: Line,
          enclosing: z.string().nullable().describe("Qualified name of the definition around the line."),
          certainty: z.enum(CERTAINTIES),
          distance: z.int().min(1).describe("Calls between it and the change; 1 is a direct one."),
          because: z.string(),
        }),
      )
      .describe(
        "Lines that use what the change removes, then those that depend on it through calls; of each the certain ones first.",
      ),
    tests: z
      .array(
        z.object({
          ...OtherOwner,
          path: z.string(),
          symbol: z
            .string()
            .nullable()
            .describe("The definition that reaches the change; null if only the names agree."),
          certainty: z.enum(CERTAINTIES),
        }),
      )
      .describe("Tests that reach the change."),
    interfaces: z
      .array(z.object({ path: z.string(), symbol: z.string(), change: z.enum(["added", "changed", "removed"]) }))
      .describe("Declarations seen from outside of their files that a patch alters."),
    usuallyTogether: z
      .array(z.object({ path: z.string(), times: Count, of: Count }))
      .nullable()
      .describe(
        "Files that changed in `times` of the `of` commits that changed one of these; null without a history, as in the service.",
      ),
    total: z
      .object({ changed: Count, files: Count, dependents: Count, tests: Count, interfaces: Count })
      .describe("Entries found, of which the lists are the beginning."),
    truncated: z.boolean().describe("A list is cut, or not all was looked at."),
    outside: z
      .array(z.string())
      .optional()
      .describe(
        "With `name`: no index defines it, and nothing is `changed`. The modules that files import it from, as in `/references`; of a package, what imports it depends on it.",
      ),
    indexes: z.array(SearchedIndex),
  })
  .meta({ id: "ImpactResponse" });
export type ImpactResponse = z.infer<typeof ImpactResponse>;

import { expect, it } from "vitest";
import { callersOf } from "./support.ts";

const FILES: Record<string, string> = {
  "dep.ts": `export class Other {
  ping() {}
}
export class Dep {
  children: Dep[] = [];
  ping() {}
  self(): this {
    return this;
  }
}
export interface Opts {
  dep: Dep;
  make: () => Dep;
  nested: { dep: Dep; list: Dep[] };
}
export function create(): Dep {
  return new Dep();
}
export async function load(): Promise<Dep> {
  return new Dep();
}
export function* gen(): Generator<Dep> {
  yield new Dep();
}
export const registry: Record<string, Dep> = {};
export function useDep(): [Dep, () => void] {
  return [new Dep(), () => {}];
}
export function isDep(x: unknown): x is Dep {
  return x instanceof Dep;
}
export function assertDep(x: unknown): asserts x is Dep {}
export function pick<T>(list: T[]): T {
  return list[0];
}
export type Handler = (dep: Dep) => void;
`,
  "use.ts": `import { create, Dep, gen, type Handler, isDep, load, type Opts, pick, registry, useDep, assertDep } from "./dep.ts";
declare const list: Dep[];
declare const opts: Opts;
declare const map: Map<string, Dep>;
declare const unknownValue: unknown;
declare const maybe: Dep | undefined;
declare const union: Dep | string;
export async function use(f: () => Dep, { dep }: Opts, [first]: Dep[], k: keyof Opts, cb: (d: Dep) => void, part: Partial<Dep>) {
  opts.dep.ping(); // 1
  opts.make().ping(); // 2
  opts.nested.dep.ping(); // 3
  opts.nested.list[0].ping(); // 4
  f().ping(); // 5
  dep.ping(); // 6
  first.ping(); // 7
  registry["a"].ping(); // 8
  registry.a.ping(); // 9
  (await load()).ping(); // 10
  load().then((d) => d.ping()); // 11
  for (const d of gen()) d.ping(); // 12
  const [d13] = useDep(); d13.ping(); // 13
  if (isDep(unknownValue)) unknownValue.ping(); // 14
  if (unknownValue instanceof Dep) unknownValue.ping(); // 15
  maybe?.ping(); // 16
  maybe!.ping(); // 17
  if (typeof union !== "string") union.ping(); // 18
  list.map((d) => d).forEach((d) => d.ping()); // 19
  list.map((d) => d.children[0]).at(0)?.ping(); // 20
  list.flatMap((d) => d.children).forEach((d) => d.ping()); // 21
  list.map(() => new Dep())[0].ping(); // 22
  Object.values(registry).forEach((d) => d.ping()); // 23
  Object.entries(registry).forEach(([, d]) => d.ping()); // 24
  Object.values(registry).map((d) => d)[0].ping(); // 25
  const copy = [...list]; copy[0].ping(); // 26
  const { nested: { dep: inner } } = opts; inner.ping(); // 27
  const d28 = maybe ?? create(); d28.ping(); // 28
  const d29 = maybe || new Dep(); d29.ping(); // 29
  const d30 = k === "dep" ? create() : new Dep(); d30.ping(); // 30
  create().self().ping(); // 31
  new Dep().self().self().ping(); // 32
  const h: Handler = (d) => d.ping(); // 33
  pick(list).ping(); // 34
  const obj = { dep: create(), make: () => new Dep() };
  obj.dep.ping(); // 35
  obj.make().ping(); // 36
  list.reduce((a, d) => { d.ping(); return a; }, 0); // 37
  list.sort((a, b) => { b.ping(); return 0; }); // 38
  const s = new Set<Dep>(); for (const d of s) d.ping(); // 39
  map.forEach((d) => d.ping()); // 40
  const [a, b] = await Promise.all([load(), load()]); a.ping(); // 41
  const all = await Promise.all(list.map(() => load())); all[0].ping(); // 42
  const arrow = () => create(); arrow().ping(); // 43
  function local() { return create(); } local().ping(); // 44
  (unknownValue as Dep).ping(); // 45
  const typed = <Dep>unknownValue; typed.ping(); // 46
  let later: Dep; later = create(); later.ping(); // 47
  switch (k) { case "dep": { const d48 = create(); d48.ping(); } } // 48
  try { const d49 = create(); d49.ping(); } catch {} // 49
  const found = list.find((d) => d); found?.ping(); // 50
  list.filter((d) => d)[0]?.ping(); // 51
  list.slice(1).concat(list)[0].ping(); // 52
  const m2 = new Map(list.map((d) => ["a", d] as const)); m2.get("a")?.ping(); // 53
  const ref = { current: null as Dep | null }; ref.current?.ping(); // 54
  const grouped = new Map<string, Dep[]>(); grouped.get("a")?.[0].ping(); // 55
  const byKey: { [key: string]: Dep } = {}; byKey["a"].ping(); // 56
  const tuple: [string, Dep] = ["a", create()]; tuple[1].ping(); // 57
  const ro: ReadonlyArray<Dep> = list; ro[0].ping(); // 58
  for (const [k2, d59] of Object.entries(registry)) d59.ping(); // 59
  for await (const d60 of (async function* () { yield create(); })()) d60.ping(); // 60
  const bound = create; bound().ping(); // 61
  const fnMap: Record<string, () => Dep> = {}; fnMap.a().ping(); // 62
  assertDep(unknownValue); unknownValue.ping(); // 63
  part.ping?.(); // 64
  const cond = opts && opts.dep; cond.ping(); // 65
  const sat = { dep: create() } satisfies { dep: Dep }; sat.dep.ping(); // 66
  Array.from(map.values())[0].ping(); // 67
  [...map.values()][0].ping(); // 68
  list.at(-1)!.ping(); // 69
  structuredClone(create()).ping(); // 70
}
`,
};

/** The numbers at the ends of the lines that call the method, by how sure that is. */
async function numbered(certainty: string): Promise<number[]> {
  const lines = (await callersOf(FILES, "Dep.ping")).filter((each) => each.endsWith(` ${certainty}`));
  const text = (FILES["use.ts"] ?? "").split("\n");
  const found = lines.map((each) => Number(/\d+$/.exec(text[Number(/:(\d+)/.exec(each)?.[1]) - 1] ?? "")?.[0]));
  return found.toSorted((one, other) => one - other);
}

it("values of TypeScript go through functions, predicates, this, records and what callbacks give", async () => {
  // Parts of patterns and objects may be replaced, and of a union with a string the other part is meant.
  const likely = [6, 18, 26, 27, 28, 29, 35, 54, 66, 68];
  // Tuples, what follows from arguments, anonymous generators, names of functions, assertions of types.
  const unknown = [13, 34, 53, 57, 60, 61, 63, 70];
  const left = new Set([...likely, ...unknown]);
  expect(await numbered("likely")).toEqual(likely);
  expect(await numbered("name")).toEqual(unknown);
  expect(await numbered("certain")).toEqual(
    Array.from({ length: 70 }, (_, i) => i + 1).filter((each) => !left.has(each)),
  );
});

it("a type that is no predicate tells nothing, and `this` is the type of the receiver", async () => {
  const files = {
    "a.ts": `class Base {
  self(): this {
    return this;
  }
  ping() {}
}
class Sub extends Base {
  ping() {}
}
class Other {
  ping() {}
}
declare function find(x: Base): Other;
declare function isSmall(x: Base): boolean;
function use(base: Base, sub: Sub) {
  if (find(base)) base.ping();
  if (isSmall(base)) base.ping();
  sub.self().ping();
  base.self().ping();
}
`,
  };
  expect(await callersOf(files, "Base.ping")).toEqual(["a.ts:16 certain", "a.ts:17 certain", "a.ts:19 certain"]);
  expect(await callersOf(files, "Other.ping")).toEqual([]);
  const calls = (await callersOf(files, "Sub.ping")).filter((each) => each.endsWith(" certain"));
  expect(calls).toEqual(["a.ts:18 certain"]);
});

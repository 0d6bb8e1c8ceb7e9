import { describe, expect, it } from "vitest";
import { callsIn } from "./support.ts";

const lines = (...all: string[]): string => all.join("\n");

describe("values of TypeScript", () => {
  it("are members of a component of Angular where its template calls them", async () => {
    const app = lines(
      "@Component({", // 1
      "  selector: 'app-cart',",
      "  template: `",
      '    <p *ngIf="isOpen()" [total]="sum(items.map(x))">{{ label() }} {{ "no()" }}</p>', // 4
      '    @if (isOpen()) { <b (click)="save(); other.save()">save()</b> }',
      "  `,", // 6
      "})",
      "export class Cart {", // 8
      "  isOpen() {}",
      "  sum(a) {}", // 10
      "  label() {}",
      "  save() {}", // 12
      "}",
    );
    const calls = (await callsIn({ "app.ts": app }, "app.ts")).filter((call) => !call.startsWith("Component@"));
    expect(calls).toEqual([
      "isOpen@4 → app.ts:9",
      "sum@4 → app.ts:10",
      "label@4 → app.ts:11",
      "isOpen@5 → app.ts:9",
      "save@5 → app.ts:12",
    ]);
  });

  it("are functions in calls that wrap them", async () => {
    const app = lines(
      "function load() {}", // 1
      "const get = asyncHandler(async () => { load(); });",
      "function Panel() {",
      "  const save = useCallback(() => { load(); }, []);", // 4
      "  const rows = useMemo(() => load(), []);",
      "  save();",
      "  rows.get();", // 7
      "  return get();",
      "}",
      "class Search {", // 10
      "  run = _.throttle(() => { this.run(); });",
      "}",
    );
    expect(await callsIn({ "app.ts": app }, "app.ts")).toEqual([
      "asyncHandler@2 → unknown",
      "load@2 → app.ts:1",
      "useCallback@4 → unknown",
      "load@4 → app.ts:1",
      "useMemo@5 → unknown",
      "load@5 → app.ts:1",
      "save@6 → app.ts:4",
      "get@7 → unknown",
      "get@8 → app.ts:2",
      "throttle@11 → unknown",
      "run@11 → app.ts:11",
    ]);
  });

  it("knows what functions get that are one of many, returned, or in a union that agrees", async () => {
    const app = lines(
      "class Context { text() {} }", // 1
      "type Handler = (c: Context) => void;",
      "type Middleware = (c: Context, next: () => void) => void;",
      "interface Get<P = string> {",
      "  <T extends P>(first: Handler | Middleware): App",
      "  <T extends P>(path: T, ...handlers: Handler[]): App",
      "}",
      "class App { get!: Get }",
      "new App().get((c) => c.text());", // 9
      'new App().get("/", (c) => c.text(), (c) => c.text());',
      'new App().get("/").get("/", (c) => c.text());',
      "const made = (): Middleware => (c, next) => c.text();", // 12
      "function make(is: boolean): Handler {",
      "  if (is) return (c) => c.text();",
      "  return function (c) { c.text(); };",
      "}",
      "function other(): void { const inner = (c) => c.text(); }", // 17
    );
    const calls = await callsIn({ "app.ts": app }, "app.ts");
    expect(calls.filter((call) => call.startsWith("text@"))).toEqual([
      ...[9, 10, 10, 11, 12, 14, 15].map((line) => `text@${line} → app.ts:1`),
      "text@17 → unknown",
    ]);
  });

  it("knows what a condition tells of a name, and values of which one is given", async () => {
    const app = lines(
      "class A { go() {} }", // 1
      "class B { go() {} }",
      "function f(x: unknown, y: unknown, a?: A, is?: boolean) {",
      "  if (x instanceof A) { x.go(); }",
      "  else x.go();", // 5
      "  const one = x instanceof B && x.go();",
      "  const two = x instanceof B ? x.go() : x.go();",
      "  if (y instanceof A) { y = new B(); y.go(); }",
      "  const three = is ? new A() : undefined; three?.go();", // 9
      "  const four = a ?? new A(); four.go();",
      "  const five = is ? new A() : new B(); five.go();",
      "}",
      "class C {", // 13
      "  a;",
      "  constructor(a) { this.a = a || new A(); }",
      "  run() { this.a.go(); }",
      "}",
    );
    const calls = await callsIn({ "app.ts": app }, "app.ts");
    expect(calls.filter((call) => call.startsWith("go@"))).toEqual([
      "go@4 → app.ts:1",
      "go@5 → unknown",
      "go@6 → app.ts:2",
      "go@7 → app.ts:2",
      "go@7 → unknown",
      "go@8 → unknown",
      "go@9 → app.ts:1",
      "go@10 → app.ts:1 likely",
      "go@11 → unknown",
      "go@16 → app.ts:1 likely",
    ]);
  });
});

describe("functions of TypeScript that are named without being called", () => {
  it("are handed over, kept, returned and assigned", async () => {
    const app = lines(
      'import { load, LIMIT, util } from "./load";', // 1
      "function save() {}",
      "const VALUE = 1;",
      "const local = () => save;", // 4
      'button.on("click", save);',
      "const table = { save, run: load, list: [local] };", // 6
      "start({ save, run: load, VALUE });",
      "other.handler = save;", // 8
      "const alias = load;",
      "run(LIMIT, VALUE, table, save ? load : local);", // 10
      "class Form {",
      "  constructor() { button.on(this.submit); button.on(this.title); }", // 12
      '  title = "";',
      "  submit() { const save = 1; run(save); return util.load; }", // 14
      "}",
      "function inner(save: string, other = 1) { run(save, other); }", // 16
      "const chosen = options.run ?? load;",
      "run(() => save);", // 18
    );
    const files = { "app.tsx": app, "load.ts": "export const LIMIT = 2;\nexport function load() {}\n" };
    const all = await callsIn(files, "app.tsx");
    expect(all.filter((call) => !/^(?:on|run|start)@/.test(call))).toEqual([
      "save@4 → app.tsx:2",
      "save@5 → app.tsx:2",
      "save@6 → app.tsx:2",
      "load@6 → load.ts:2",
      "local@6 → app.tsx:4",
      "save@7 → app.tsx:2",
      "load@7 → load.ts:2",
      "save@8 → app.tsx:2",
      "load@9 → load.ts:2",
      "save@10 → app.tsx:2",
      "load@10 → load.ts:2",
      "local@10 → app.tsx:4",
      "submit@12 → app.tsx:14",
      "load@14 → unknown",
      "load@17 → load.ts:2",
      "save@18 → app.tsx:2",
    ]);
  });

  it("are attributes of JSX", async () => {
    const app = lines(
      "function App() {",
      "  const save = () => {};",
      "  return <Button onClick={save} {...save} />;",
      "}",
    );
    expect((await callsIn({ "app.tsx": app }, "app.tsx")).filter((call) => call.startsWith("save"))).toEqual([
      "save@3 → app.tsx:2",
    ]);
  });

  it("are held by lists and maps that are constructed with a type", async () => {
    const app = lines(
      "class Item { go() {} }", // 1
      "const byName = new Map<string, Item>();",
      "const nested = new WeakMap<object, Map<string, Item>>();",
      "const all = new Set<Item>();",
      "function run(record: Record<string, Item>, list: Item[]) {",
      "  byName.get('a')!.go();", // 6
      "  nested.get({})?.get('a')?.go();",
      "  for (const item of all) item.go();",
      "  for (const item of byName.values()) item.go();",
      "  for (const [, item] of byName) item.go();", // 10
      "  for (const [key, item] of list.entries()) item.go();",
      "  for (const item of Object.values(record)) item.go();",
      "  for (const [key, item] of Object.entries(record)) item.go();", // 13
      "  Array.from(all).map((item) => item.go());",
      "  [...all].map((item) => item.go());",
      "  const [first, second] = list; first.go();", // 16
      "  second.go();",
      "  Array.from(all, (item) => 1)[0].go();", // 18
      "  const own = [new Item()]; own[0].go();",
      "}",
      "function own(Map, Array) {", // 21
      "  new Map<string, Item>().get('a').go();",
      "  Array.from(all)[0].go();",
      "  for (const [key] of byName) key.go();",
      "}",
    );
    const calls = (await callsIn({ "app.ts": app }, "app.ts")).filter((call) => call.startsWith("go@"));
    expect(calls).toEqual([
      ...[6, 7, 8, 9, 10, 11, 12, 13, 14].map((line) => `go@${line} → app.ts:1`),
      "go@15 → app.ts:1 likely",
      "go@16 → app.ts:1",
      "go@17 → app.ts:1",
      "go@18 → outside",
      "go@19 → app.ts:1 likely",
      ...[22, 23, 24].map((line) => `go@${line} → unknown`),
    ]);
  });

  it("are what assignments give, and the results that are awaited together", async () => {
    const app = lines(
      "class Item { go() {} }", // 1
      "class Other { go() {} }",
      "async function load(): Promise<Item> {}",
      "async function run(shelf, cached: Item | undefined) {",
      "  const made = (shelf.item = new Item()); made.go();", // 5
      "  (cached ??= new Item()).go();",
      "  (cached += new Item()).go();", // 7
      "  const [one, two] = await Promise.all([load(), new Other()]); one.go();",
      "  two.go();",
      "  const [three, four] = await Promise.all([...all, load()]); four.go();", // 10
      "}",
    );
    const calls = (await callsIn({ "app.ts": app }, "app.ts")).filter((call) => call.startsWith("go@"));
    expect(calls).toEqual([
      "go@5 → app.ts:1",
      "go@6 → app.ts:1 likely",
      "go@7 → unknown",
      "go@8 → app.ts:1",
      "go@9 → app.ts:2",
      "go@10 → outside",
    ]);
  });
});

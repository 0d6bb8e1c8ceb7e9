import { expect, it } from "vitest";
import { importersOf } from "../../../src/interface/questions/relations/importers.ts";
import { callsIn, indexOf } from "./support.ts";

it("is of the asserted type, what a type assertion of Go gives", async () => {
  const app = [
    "package a",
    "",
    "type Sq struct{}", // 3
    "type Shape interface{ Area() int }",
    "",
    "func (s *Sq) Area() int { return 1 }", // 6
    "func (s *Sq) Self() *Sq { return s }",
    "",
    "func run(x any) {", // 9
    "	x.(*Sq).Area()",
    "	x.(*Sq).Self().Area()",
    "	(*x.(*Sq)).Self()", // 12
    "	x.([]*Sq)[0].Self()",
    "	x.(Shape).Area()", // 14
    "	x.(interface{ Area() int }).Area()",
    "}",
  ].join("\n");
  expect(await callsIn({ "a.go": app }, "a.go")).toEqual([
    "Area@10 → a.go:6",
    "Area@11 → a.go:6",
    "Self@11 → a.go:7",
    "Self@12 → a.go:7",
    "Self@13 → a.go:7",
    "Area@14 → a.go:4",
    "Area@15 → unknown",
  ]);
});

it("finds a package by the modules that the repository states, wherever these are", async () => {
  const store = (name: string) => `package ${name}\n\nfunc Open() {}\n`;
  const files = {
    "go.mod": "module acme.dev/root\n\ngo 1.22\n",
    "root.go": "package root\n\nfunc Top() {}\n",
    "store/store.go": store("store"),
    "store/store_test.go": "package store\n\nfunc Check() {}\n",
    "server/go.mod": "module acme.dev/root/server/v3\n",
    "server/lease/lease.go": store("lease"),
    "staging/src/k8s.acme/api/go.mod": "module k8s.acme/api\n",
    "staging/src/k8s.acme/api/core/v1/types.go": store("v1"),
    "tests/go.mod": "module acme.dev/root/tests/v3\n",
    "tests/framework/cluster.go": store("framework"),
    "tests/fixtures/go.mod": "module acme.dev/root\n",
    // Of packages that others have, folders here have the names.
    "context/context.go": store("context"),
    "main.go": [
      "package root",
      "",
      "import (",
      '\t"acme.dev/root"',
      '\t"acme.dev/root/server/v3/lease"',
      '\t"acme.dev/root/store"',
      '\t"acme.dev/root/tests/v3/framework"',
      '\tcorev1 "k8s.acme/api/core/v1"',
      '\t"golang.org/x/net/context"',
      ")",
      "",
      "func main() {",
      "\troot.Top()", // 13
      "\tlease.Open()",
      "\tstore.Open()",
      "\tstore.Check()",
      "\tcorev1.Open()",
      "\tcontext.Open()", // 18
      "\tframework.Open()",
      "}",
    ].join("\n"),
  };
  expect(await callsIn(files, "main.go")).toEqual([
    "Top@13 → root.go:3",
    "Open@14 → server/lease/lease.go:3",
    "Open@15 → store/store.go:3",
    "Check@16 → outside",
    "Open@17 → staging/src/k8s.acme/api/core/v1/types.go:3",
    "Open@18 → none",
    "Open@19 → tests/framework/cluster.go:3",
  ]);
  const found = await importersOf(await indexOf(files), "server/lease/lease.go");
  expect(found.map(({ path, line, certainty }) => `${path}:${line} ${certainty}`)).toEqual(["main.go:5 likely"]);
});

it("knows what is in no repository: names of the language, packages of others, types of the standard library", async () => {
  const app = [
    "package a",
    "import (",
    '\t"C"',
    '\t"io"',
    '\t"sync"',
    '\t"testing"',
    '\t"other.dev/log"',
    '\t"other.dev/copied"',
    ")",
    "type Store struct { mu sync.Mutex; out io.Writer; log *log.Logger }",
    "func (s *Store) Run(t *testing.T, tb testing.TB) {",
    "\tclose(nil)", // 12
    "\tlog.Open()",
    "\tcopied.Open()",
    "\tC.Open()",
    "\tt.Run()", // 16
    "\ts.mu.Lock()",
    "\ttb.Run()",
    "\ts.out.Write()",
    "\ts.log.Lock()", // 20
    "}",
  ].join("\n");
  const other =
    "package b\n\ntype R struct{}\n\nfunc (r *R) close() {}\nfunc (r *R) Lock() {}\nfunc (r *R) Write() {}\nfunc Open() {}\n";
  const files = { "go.mod": "module acme.dev/root\n", "a.go": app, "b/b.go": other };
  const copied = { "vendor/other.dev/copied/copied.go": "package copied\n\nfunc Open() {}\n" };
  const none = ["close@12 → none", "Open@13 → none", "Open@14 → none"];
  const rest = ["Open@15 → outside", "Run@16 → none", "Lock@17 → none", "Run@18 → outside", "Write@19 → outside"];
  expect(await callsIn(files, "a.go")).toEqual([...none, ...rest, "Lock@20 → outside"]);
  expect(await callsIn({ ...files, ...copied }, "a.go")).toContain("Open@14 → outside");
  // Without a manifest, which packages are the repository's own is not known.
  expect(await callsIn({ "a.go": app, "b/b.go": other }, "a.go")).toContain("Open@13 → outside");
});

it("says nothing of a module that several manifests state", async () => {
  const app = 'package main\n\nimport "acme.dev/lib/store"\n\nfunc main() {\n\tstore.Open()\n}\n';
  const lib = { "go.mod": "module acme.dev/lib\n", "store/store.go": "package store\n\nfunc Open() {}\n" };
  const copy = { "copy/go.mod": "module acme.dev/lib\n" };
  expect(await callsIn({ ...lib, "main.go": app }, "main.go")).toEqual(["Open@6 → store/store.go:3"]);
  expect(await callsIn({ ...lib, ...copy, "main.go": app }, "main.go")).toEqual(["Open@6 → outside"]);
});

it("follows what channels and types of collections hold", async () => {
  const lib = [
    "package a",
    "",
    "type R struct{}",
    "",
    "func (r *R) Err() error { return nil }", // 5
    "",
    "type Chan <-chan R",
    "type List []*R",
    "type Table map[string]R",
    "",
    "func Watch() Chan { return nil }", // 11
    "func All() List { return nil }",
  ].join("\n");
  const app = [
    "package a",
    "",
    "func run(c chan *R, m map[string]R, t Table) {",
    "\tw := Watch()", // 4
    "\tr, ok := <-w",
    "\tr.Err()",
    "\t(<-c).Err()",
    "\tfor e := range c {",
    "\t\te.Err()", // 9
    "\t}",
    "\tfor _, e := range All() {",
    "\t\te.Err()", // 12
    "\t}",
    "\tfor k := range m {",
    "\t\tk.Err()", // 15
    "\t}",
    "\tselect {",
    "\tcase n, ok := <-w:",
    "\t\tn.Err()", // 19
    "\t}",
    "\tt[key].Err()",
    "\tfor k, v := range t {",
    "\t\tk.Err()", // 23
    "\t\tv.Err()",
    "\t}",
    "}",
  ].join("\n");
  expect(await callsIn({ "lib.go": lib, "app.go": app }, "app.go")).toEqual([
    "Watch@4 → lib.go:11",
    "Err@6 → lib.go:5",
    "Err@7 → lib.go:5",
    "Err@9 → lib.go:5",
    "All@11 → lib.go:12",
    "Err@12 → lib.go:5",
    "Err@15 → unknown",
    "Err@19 → lib.go:5",
    "Err@21 → lib.go:5",
    "Err@23 → unknown",
    "Err@24 → lib.go:5",
  ]);
});

it("gives members of embedded types of the standard library to none of the repository", async () => {
  const files = {
    "go.mod": "module acme.dev/a\n",
    "a.go": [
      "package a",
      "",
      'import ("sync"; "example.com/x"; "net/http")',
      "",
      "type Lock struct{ own int }",
      "",
      "func (l *Lock) Lock() {}", // 7
      "func (l *Lock) Close() {}",
      "",
      "type Store struct { sync.Mutex }",
      "type Cache struct { *Store; sync.WaitGroup }",
      "type Both struct { sync.Mutex; Base }",
      "type Base struct{}",
      "",
      "func (b Base) Close() {}", // 15
      "",
      "type Open struct { x.Locker }",
      "type Writer struct { http.ResponseWriter; Base }",
      "",
      "func run(s *Store, c Cache, b Both, o Open, w Writer) {",
      "	s.Lock()", // 21
      "	c.Lock()",
      "	b.Lock()", // 23
      "	b.Close()",
      "	o.Lock()", // 25
      "	w.Close()",
      "	w.Write(nil)", // 27
      "}",
    ].join("\n"),
  };
  const calls = (await callsIn(files, "a.go")).filter((call) => /^(?:Lock|Close|Write)@2/.test(call));
  expect(calls).toEqual([
    "Lock@21 → none",
    "Lock@22 → none",
    "Lock@23 → none",
    "Close@24 → a.go:15 likely",
    "Lock@25 → unknown",
    "Close@26 → a.go:15 likely",
    "Write@27 → unknown",
  ]);
});

it("follows what any number of arguments, appending, slicing and copies of variables give", async () => {
  const app = [
    "package app", // 1
    "type Item struct{ next *Item }",
    "func (i *Item) Go() {}",
    "func run(given []*Item, all ...*Item) {",
    "\tall[0].Go()", // 5
    "\tmore := append(given, nil)",
    "\tmore[0].Go()",
    "\trest := given[1:]",
    "\trest[0].Go()", // 9
    "\tmade := make(map[string][]*Item)",
    '\tmade["a"][0].Go()',
    "\tnext := all[0].next",
    "\tnext.Go()", // 13
    "\tcopied := next",
    "\tcopied.Go()",
    "\tall.Go()", // 16
    "}",
  ].join("\n");
  const calls = (await callsIn({ "go.mod": "module app\n", "app.go": app }, "app.go")).filter((call) =>
    call.startsWith("Go@"),
  );
  expect(calls).toEqual([...[5, 7, 9, 11, 13, 15].map((line) => `Go@${line} → app.go:3`), "Go@16 → unknown"]);
});

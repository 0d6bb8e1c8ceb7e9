import { expect, it } from "vitest";
import { callsIn } from "./support.ts";

const callsOf = async (name: string, files: Record<string, string>, path: string): Promise<string[]> =>
  (await callsIn(files, path)).filter((call) => call.startsWith(`${name}@`));

const ITEM = [
  "#[derive(Default)]",
  "pub struct Item { pub inner: Option<Box<Item>> }",
  "impl Item {",
  "    pub fn go(&self) {}", // 4
  "    pub fn try_new() -> Result<Self, Error> { Err(Error) }",
  "}",
  "impl From<u8> for Item { fn from(_: u8) -> Self { Item::default() } }",
  "impl From<u16> for Item { fn from(_: u16) -> Self { Item::default() } }",
  "pub struct Other;",
  "impl Other { pub fn go(&self) {} }", // 10
  "pub struct Error;",
].join("\n");

/** The lines of `main.rs` on which `go` is known to be the one of `Item`, out of those that call it. */
async function known(lines: readonly string[]): Promise<{ known: string[]; not: string[] }> {
  const text = ["mod item;", "use item::{Item, Other, Error};", ...lines].join("\n");
  const calls = await callsOf("go", { "src/item.rs": ITEM, "src/main.rs": text }, "src/main.rs");
  const lineOf = (call: string): string => text.split("\n")[Number(/@(\d+)/.exec(call)?.[1]) - 1]?.trim() ?? "";
  const isItem = (call: string): boolean => call.endsWith("→ src/item.rs:4");
  return { known: calls.filter(isItem).map(lineOf), not: calls.filter((call) => !isItem(call)).map(lineOf) };
}

const HOLDER = [
  "use std::collections::{HashMap, HashSet};",
  "use std::sync::{Arc, Mutex, RwLock};",
  "use std::{cell::RefCell, rc::Rc};",
  "struct Holder { items: Vec<Item>, map: HashMap<String, Item>, shared: Arc<Mutex<Item>>, rc: Rc<RefCell<Item>>, rw: RwLock<Item>,",
  "  opt: Option<Item>, nested: Vec<Arc<Item>>, others: HashMap<Item, Other> }",
  "fn many() -> Vec<Item> { vec![] }",
  "fn iter() -> impl Iterator<Item = Item> { many().into_iter() }",
];

it("values that types of Rust's library hold have the type that is written down", async () => {
  const body = [
    "self.items[0].go();",
    "self.items[1..][0].go();",
    "for i in &self.items { i.go(); }",
    "for (n, i) in self.items.iter().enumerate() { i.go(); }",
    "self.items.iter().filter(|i| true).for_each(|i| i.go());",
    "self.items.first().unwrap().go();",
    "if let Some(i) = self.map.get(key) { i.go(); }",
    "for (k, i) in &self.map { i.go(); }",
    "for i in self.map.values() { i.go(); }",
    "self.map.entry(key).or_insert_with(make).go();",
    "self.shared.lock().unwrap().go();",
    "self.rc.borrow_mut().go();",
    "self.rw.read().unwrap().go();",
    "self.opt.as_ref().map(|i| i.go());",
    "self.opt.take().ok_or(Error)?.go();",
    "Arc::clone(&self.nested[0]).go();",
    "for i in iter() { i.go(); }",
    "let list: Vec<Item> = build().collect(); list[0].go();",
    "let mut list = Vec::new(); list.push(Item::default()); list[0].go();",
    "let listed = [Item::default()]; listed[0].go();",
    "self.items.iter().fold(0, |sum, i| { i.go(); sum });",
    "list.iter().max_by(|a, b| { a.go(); 0 });",
    "text.parse::<Item>().unwrap().go();",
    "many().into_iter().collect::<HashSet<_>>().iter().next().unwrap().go();",
  ];
  const not = [
    "self.items.go();",
    "self.map.keys().next().unwrap().go();",
    "for (k, i) in &self.others { k.go(); }",
    "self.items.iter().map(|i| 1).next().unwrap().go();",
    "self.items.get(0..2).unwrap().go();",
    "self.items.iter().fold(0, |sum, i| { sum.go(); sum });",
    "self.opt.go();",
    "self.shared.go2(|i| i.go());",
  ];
  const wrap = (lines: readonly string[]) => [...HOLDER, "impl Holder {", "fn run(&mut self) {", ...lines, "} }"];
  const found = await known(wrap([...body, ...not]));
  expect(found).toEqual({ known: [...body], not });
});

it("patterns, branches and later assignments of Rust tell types", async () => {
  const lines = [
    "enum Kind { A(Item), B { item: Item, n: u8 }, C }",
    "struct Pair { one: Item, two: Other }",
    "fn run(kind: Kind, opt: Option<Item>, pair: Pair, item: &Item, (left, right): (Item, Other)) {",
  ];
  const body = [
    "match kind { Kind::A(i) => i.go(), _ => {} }",
    "match kind { Kind::B { item, .. } => item.go(), _ => {} }",
    "match kind { Kind::B { item: ref i, n: 1 } => i.go(), _ => {} }",
    "match opt { Some(i) if true => i.go(), None => {} }",
    "match Item::try_new() { Ok(i) | Ok(i) => i.go(), Err(_) => {} }",
    "let i = match opt { Some(i) => i, None => return }; i.go();",
    "let i = if let Some(i) = opt { i } else { panic!() }; i.go();",
    "let i = { let two = pair.two; let z = Item::default(); z }; i.go();",
    "let Pair { one, .. } = pair; one.go();",
    "let (x, y) = (Item::default(), 1); x.go();",
    "left.go();",
    "let late; late = Item::from(1); late.go();",
    "let mut maybe = None; maybe = Some(Item::default()); maybe.unwrap().go();",
    "if let Some(i) = &item.inner { i.go(); }",
    "let whole @ Item { .. } = Item::default(); whole.go();",
  ];
  const not = [
    "right.go();",
    "let Pair { two, .. } = pair; two.go();",
    "match opt { Some(i) => 1, None => 2 }.go();",
    "let item = match opt { Some(item) => pair.two, None => return }; item.go();",
    "match kind { Kind::B { n, .. } => n.go(), _ => {} }",
  ];
  expect(await known([...lines, ...body, ...not, "}"])).toEqual({ known: body, not });
});

it("type arguments and closures of Rust's functions tell types", async () => {
  const lines = [
    "struct Holder<A, T> { a: A, inner: T }",
    "impl<A, T> Holder<A, T> { fn get(&self) -> &T { &self.inner } }",
    "trait Repo<T> { fn find(&self) -> Option<T>; }",
    "fn with(n: u8, f: impl FnOnce(&Item)) {}",
    "fn each<F>(f: F) where F: Fn(u8, &mut Item) -> bool {}",
    "fn boxed(f: Box<dyn Fn(Item) + Send>) {}",
    "fn run(h: Holder<Other, Item>, repo: &dyn Repo<Item>) {",
  ];
  const body = [
    "h.inner.go();",
    "h.get().go();",
    "repo.find().unwrap().go();",
    "with(1, |i| i.go());",
    "each(|n, i| { i.go(); true });",
    "boxed(|i| i.go());",
  ];
  const not = ["h.a.go();", "each(|n, i| { n.go(); true });"];
  expect(await known([...lines, ...body, ...not, "}"])).toEqual({ known: body, not });
});

it("a type of the repository is no container of Rust's library", async () => {
  const files = {
    "src/lib.rs": [
      "struct Item; impl Item { fn go(&self) {} }",
      "struct Other; impl Other { fn go(&self) {} }",
      "struct Peekable<T>(T);",
      "impl<T> Peekable<T> { fn peek(&self) -> Option<Other> { None } }",
      "fn run(own: Peekable<Item>) { own.peek().unwrap().go(); }",
    ].join("\n"),
  };
  expect(await callsOf("go", files, "src/lib.rs")).toEqual(["go@5 → src/lib.rs:2"]);
});

it("an own list that is filled is no list of Rust's library", async () => {
  const text = [
    "struct Item; impl Item { fn go(&self) {} }",
    "struct Vec { n: u8 }",
    "impl Vec {",
    "fn new() -> Self { Vec { n: 1 } }",
    "fn push(&mut self, i: Item) {}", // 5
    "fn pop(&self) -> Option<u8> { None }",
    "}",
    "fn run() { let mut own = Vec::new(); own.push(Item); own.push(Item); own.pop().unwrap().go(); }",
  ].join("\n");
  const calls = await callsIn({ "src/lib.rs": text }, "src/lib.rs");
  expect(calls.filter((call) => /^(?:go|push)@8/.test(call))).toEqual([
    "push@8 → src/lib.rs:5",
    "push@8 → src/lib.rs:5",
    "go@8 → unknown",
  ]);
});

it("methods of Rust that only look like those of traits or lists are what is written down", async () => {
  const text = [
    "struct Item;",
    "impl Item {",
    "    fn default() -> Result<Item, u8> { Ok(Item) }",
    "    fn span(self, at: Range<u8>) -> Item { self }",
    "    fn go(&self) {}", // 5
    "}",
    "enum Kind { Only }",
    "fn take(kind: Kind) {}",
    "fn run() {",
    "    Item::default().unwrap().span(1..2).go();",
    "    Item::default().go();",
    "    let only = Kind::Only;",
    "    take(only);",
    "}",
  ].join("\n");
  const calls = await callsIn({ "src/lib.rs": text }, "src/lib.rs");
  expect(calls.filter((call) => /^(?:go|only)@/.test(call))).toEqual(["go@10 → src/lib.rs:5", "go@11 → unknown"]);
});

import { describe, expect, it } from "vitest";
import { type LanguageId, LANGUAGES } from "../../../src/engines/parsing/languages.ts";
import { encode, parseText, summarize, violations } from "./support.ts";

const lines = (...all: string[]): string => `${all.join("\n")}\n`;

/** A source, and `lines kind qualifiedName` of each declaration. */
const CASES: readonly (readonly [LanguageId, string, readonly string[]])[] = [
  [
    "protobuf",
    lines(
      'syntax = "proto3";',
      "/* message Old {} */",
      "// A user.",
      "message User {",
      "  string name = 1;",
      "  enum Role {",
      "    ADMIN = 0;",
      "  }",
      "}",
      "service Users {",
      "  rpc Get(GetRequest) returns (User) {}",
      "}",
    ),
    ["4-9 struct User", "6-8 enum User.Role", "10-12 interface Users", "11 method Users.Get"],
  ],
  [
    "graphql",
    lines(
      '"A user"',
      "type User implements Node {",
      "  id: ID!",
      "}",
      "scalar Date",
      "query Me($id: ID) {",
      "  me",
      "}",
    ),
    ["2-4 struct User", "5 type Date", "6-8 function Me"],
  ],
  [
    "thrift",
    lines("typedef i32 Id", "struct User {", "  1: Id id", "}", "service Users {", "  User get(1: Id id)", "}"),
    ["1 type Id", "2-4 struct User", "5-7 interface Users", "6 method Users.get"],
  ],
  [
    "prisma",
    lines("model User {", "  id Int @id", "}", "enum Role {", "  ADMIN", "}"),
    ["1-3 struct User", "4-6 enum Role"],
  ],
  [
    "terraform",
    lines(
      'resource "aws_s3_bucket" "logs" {',
      '  bucket = "x"',
      "}",
      'data "aws_ami" "os" {',
      "}",
      'variable "name" {}',
    ),
    ["1-3 object aws_s3_bucket.logs", "4-5 object data.aws_ami.os", "6 variable name"],
  ],
  [
    "cmake",
    lines("function(add_tool name)", "  message(x)", "endfunction()", "add_library(core STATIC a.c)"),
    ["1-3 function add_tool", "4 target core"],
  ],
  ["gherkin", lines("Feature: Sign in", "  Scenario: Wrong password", "    Given a user"), ["1-3 heading Sign in"]],
  [
    "haskell",
    lines(
      "module Data.Queue (push) where",
      "data Queue a = Queue [a]",
      "class Shape s where",
      "  area :: s -> Double",
      "instance Shape Circle where",
      "  area = radius",
      "-- | Adds one.",
      "push :: a -> Queue a -> Queue a",
      "push x (Queue xs) = Queue (x : xs)",
      "  where",
      "    y = 1",
      "helper x = x",
    ),
    [
      "1 module Data.Queue",
      "2 type Queue",
      "3-4 interface Shape",
      "5-6 extension Shape Circle",
      "8-11 function push",
      "12 function helper",
    ],
  ],
  ["purescript", lines("main :: Effect Unit", "main = log x"), ["1-2 function main"]],
  [
    "elm",
    lines(
      "type alias Model =",
      "    { count : Int }",
      "update : Msg -> Model -> Model",
      "update msg model =",
      "    model",
    ),
    ["1-2 type Model", "3-5 function update"],
  ],
  [
    "ocaml",
    lines(
      "(* let hidden = 1 *)",
      "type t = { a : int }",
      "let rec fact n =",
      "  let m = n in",
      "  m",
      "module M = struct",
      "  let inner x = x",
      "end",
    ),
    ["2 type t", "3-5 function fact", "6-8 module M", "7 function M.inner"],
  ],
  [
    "fsharp",
    lines(
      "module Shop =",
      "    let price x =",
      "        let y = x",
      "        y",
      "    type Cart() =",
      "        member this.Add(x) = x",
    ),
    ["1-6 module Shop", "2-4 function Shop.price", "5-6 class Shop.Cart", "6 method Shop.Cart.Add"],
  ],
  [
    "erlang",
    lines("-module(queue).", "-record(item, {id}).", "push(X, []) ->", "    [X];", "push(X, Q) ->", "    [X | Q]."),
    ["1 constant queue", "2 struct item", "3-6 function push"],
  ],
  [
    "clojure",
    lines(
      "(ns shop.core)",
      "(defn- price",
      "  [x]",
      "  (let [y x] y))",
      "(defprotocol Shape",
      "  (area [s]))",
      "(def rate 2)",
    ),
    ["1 constant shop.core", "2-4 function price", "5-6 interface Shape", "7 variable rate"],
  ],
  [
    "lisp",
    lines(
      "(defun area (x)",
      "  (* x x))",
      "(define (twice x)",
      "  (* 2 x))",
      "(defmacro when-let (b) b)",
      "(defvar *rate* 1)",
    ),
    ["1-2 function area", "3-4 function twice", "5 macro when-let", "6 variable *rate*"],
  ],
  [
    "gleam",
    lines("pub type Shape {", "  Circle", "}", "pub fn area(s) {", "  1", "}"),
    ["1-3 type Shape", "4-6 function area"],
  ],
  [
    "rescript",
    lines("module Api = {", "  let get = () => 1", "}", "type t = int"),
    ["1-3 module Api", "2 function Api.get", "4 type t"],
  ],
  [
    "crystal",
    lines("class Cart", "  def self.load(id)", "    1", "  end", "  private def total", "  end", "end"),
    ["1-7 class Cart", "2-4 method Cart.load", "5-6 method Cart.total"],
  ],
  [
    "nim",
    lines(
      "type",
      "  Cart* = ref object",
      "    total: int",
      "proc add*(c: Cart) =",
      "  discard",
      "template twice(x) = x",
    ),
    ["2-3 struct Cart", "4-5 function add", "6 macro twice"],
  ],
  [
    "odin",
    lines("Cart :: struct {", "\ttotal: int,", "}", "add :: proc(c: ^Cart) {", "}"),
    ["1-3 struct Cart", "4-5 function add"],
  ],
  [
    "fortran",
    lines(
      "module solver",
      "  implicit none",
      "contains",
      "  subroutine step(x)",
      "    x = 1",
      "  end subroutine step",
      "end module solver",
    ),
    ["1-7 module solver", "4-6 function solver%step"],
  ],
  [
    "pascal",
    lines(
      "type",
      "  TCart = class(TObject)",
      "    procedure Add;",
      "  end;",
      "procedure TCart.Add;",
      "begin",
      "  x := 1;",
      "end;",
    ),
    ["2-4 class TCart", "3 method TCart.Add", "5-8 function TCart.Add"],
  ],
  [
    "ada",
    lines(
      "package body Shop is",
      "   procedure Add (X : Integer) is",
      "   begin",
      "      null;",
      "   end Add;",
      "end Shop;",
    ),
    ["1-6 module Shop", "2-5 function Shop.Add"],
  ],
  [
    "vb",
    lines(
      "Public Class Cart",
      "    Public Function Total() As Integer",
      "        Return 1",
      "    End Function",
      "End Class",
    ),
    ["1-5 class Cart", "2-4 method Cart.Total"],
  ],
  [
    "objective-c",
    lines(
      "@implementation Cart",
      "- (void)addItem:(Item *)item {",
      "  if (x) {",
      "  }",
      "}",
      "@end",
      "static int total(int x) {",
      "  return x;",
      "}",
    ),
    ["1-6 class Cart", "2-5 method Cart.addItem", "7-9 function total"],
  ],
  [
    "d",
    lines("class Cart {", "    int total(int x) {", "        return x;", "    }", "}", "enum Kind { a }"),
    ["1-5 class Cart", "2-4 method Cart.total", "6 enum Kind"],
  ],
  [
    "solidity",
    lines(
      "contract Token is ERC20 {",
      "    event Sent(address to);",
      "    constructor() {",
      "    }",
      "    function send(address to) public {",
      "    }",
      "}",
    ),
    ["1-7 class Token", "2 method Token.Sent", "3-4 method Token.constructor", "5-6 method Token.send"],
  ],
  [
    "verilog",
    lines("module adder(input a);", "  function automatic [7:0] sum(input x);", "  endfunction", "endmodule"),
    ["1-4 module adder", "2-3 function adder.sum"],
  ],
  [
    "vhdl",
    lines(
      "entity adder is",
      "  port (a : in bit);",
      "end entity;",
      "architecture rtl of adder is",
      "begin",
      "  main : process",
      "  begin",
      "  end process;",
      "end rtl;",
    ),
    ["1-3 class adder", "4-9 class rtl.adder", "6-8 method rtl.adder.main"],
  ],
  [
    "shader",
    lines("struct Light {", "  vec3 color;", "};", "vec3 shade(Light l) {", "  return l.color;", "}"),
    ["1-3 struct Light", "4-6 function shade"],
  ],
  [
    "cython",
    lines(
      "cdef class Cart:",
      "    cpdef int total(self):",
      "        return 1",
      "    def add(self, x):",
      "        pass",
    ),
    ["1-5 class Cart", "2-3 method Cart.total", "4-5 method Cart.add"],
  ],
  [
    "groovy",
    lines(
      "class Cart {",
      "    int total(x) {",
      "        x",
      "    }",
      '    def "adds up"() {',
      "    }",
      "}",
      "task build {",
      "}",
    ),
    ["1-7 class Cart", "2-4 method Cart.total", "5-6 test Cart.adds up", "8-9 target build"],
  ],
  [
    "perl",
    lines(
      "package Shop::Cart;",
      "=head1 NAME",
      "",
      "  sub not_code {}",
      "",
      "=cut",
      "# Adds.",
      "sub add {",
      "    my $x = 1;",
      "}",
      "package Other;",
      "sub run { 1 }",
    ),
    ["1-10 module Shop::Cart", "8-10 function Shop::Cart::add", "11-12 module Other", "12 function Other::run"],
  ],
  [
    "r",
    lines(
      "area <- function(x) {",
      "  y <- function(z) z",
      "  x",
      "}",
      'Cart <- R6Class("Cart", list(',
      "  add = 1",
      "))",
    ),
    ["1-4 function area", "5-7 class Cart"],
  ],
  [
    "julia",
    lines(
      "module Shop",
      "struct Cart",
      "    total::Int",
      "end",
      "function add!(c::Cart)",
      "    1",
      "end",
      "area(x) = x * x",
      "",
      "z = 1",
    ),
    ["1-10 module Shop", "2-4 struct Shop.Cart", "5-7 function Shop.add!", "8 function Shop.area"],
  ],
  [
    "powershell",
    lines("<#", "function Hidden {", "#>", "function Get-Total {", "    param($x)", "}", "class Cart {", "}"),
    ["4-6 function Get-Total", "7-8 class Cart"],
  ],
  ["vim", lines("function! shop#add(x) abort", "  return 1", "endfunction"), ["1-3 function shop#add"]],
  [
    "tcl",
    lines("namespace eval shop {", "  proc add {x} {", "  }", "}", "proc run {} {", "}"),
    ["1-4 namespace shop", "2-3 function shop::add", "5-6 function run"],
  ],
  ["awk", lines("function add(x) {", "  return x", "}", "BEGIN { add(1) }"), ["1-3 function add"]],
  ["fish", lines("function fish_prompt", "  echo x", "end"), ["1-3 function fish_prompt"]],
  ["batch", lines("@echo off", ":build", "echo x", "goto :eof"), ["2 function build"]],
  [
    "coffeescript",
    lines("class Cart", "  add: (x) ->", "    x", "total = (x) -> x"),
    ["1-3 class Cart", "2-3 method Cart.add", "4 function total"],
  ],
];

describe("declarations found by lines", () => {
  it.each(CASES)("of %s", async (language, text, expected) => {
    const parsed = await parseText(language, text);
    expect(summarize(parsed).map((line) => line.split(/ <- | :: /)[0])).toEqual(expected);
    expect(violations(parsed, encode(text))).toEqual([]);
    expect(parsed.outcome).toBe("structure");
  });

  it("have a case for each language", () => {
    const covered = new Set(CASES.map(([language]) => language));
    expect(LANGUAGES.filter(({ id, mode }) => mode === "declarations" && !covered.has(id))).toEqual([]);
  });

  it("have the comments above as documentation", async () => {
    const { symbols } = await parseText("perl", "# Adds one.\n# Twice.\nsub add {\n}\n");
    expect(symbols).toMatchObject([{ name: "add", doc: "Adds one.\nTwice.", signature: "sub add" }]);
  });

  it("take time in proportion to the text", async () => {
    const hostile = ["(", " ", "a ", "/* ", "a::", "<", "=>", "type ", "sub a { ", "@a "].map((part) =>
      part.repeat(500),
    );
    for (const { id, mode } of LANGUAGES.filter((each) => each.mode === "declarations"))
      for (const part of hostile) {
        const { outcome } = await parseText(id, `${part}\n`.repeat(20));
        expect(outcome, mode).toBe("structure");
      }
  });
});

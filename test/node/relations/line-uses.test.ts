import { expect, it } from "vitest";
import { isUsedInLines, namedInLine } from "../../../src/interface/questions/relations/line-uses.ts";
import { callersOf } from "./support.ts";

const PRICE = { name: "price", owners: new Set<string>() };

it.each([
  ["haskell", "x <- price a", true],
  ["haskell", "map price xs", true],
  ["haskell", "a `price` b", true],
  ["haskell", "return (price :: Int)", true],
  ["haskell", "let c = '\"' in price c", true],
  ["haskell", "price :: Int", false],
  ["haskell", "let price = 1", false],
  ["haskell", "price' a", false],
  ["haskell", "a -- price of it", false],
  ["haskell", "-- price a", false],
  ["haskell", 'say "the price is"', false],
  ["elm", "price :: rest", true],
  ["elm", "price : Int", false],
  ["elm", "{ title, price } =", false],
  ["fsharp", "let ``a price is`` () =", false],
  ["ocaml", "let a = price 1 in", true],
  ["ocaml", "let price = 1 in", false],
  ["ocaml", "f ~price ~b", false],
  ["fsharp", "items |> List.map price", true],
  ["fsharp", "// price 1", false],
  ["clojure", "(shop/price a)", true],
  ["clojure", "(map price xs)", true],
  ["clojure", "(price-of a)", false],
  ["clojure", "{:price 1}", false],
  ["clojure", "(defn price [a])", false],
  ["lisp", "(add-hook 'a #'price)", true],
  ["lisp", "(mapcar 'price xs)", true],
  ["lisp", '(message "price \\" price")', false],
  ["perl", "$self->price(1)", true],
  ["perl", "add(price => \\&price);", true],
  ["perl", "add(price => 1);", false],
  ["perl", "$a{price} = @price;", false],
  ["perl", "my $price = 1; # price", false],
  ["erlang", "Mod:price(A)", true],
  ["erlang", "lists:map(fun price/1, L)", true],
  ["erlang", "apply(Mod, price, [1])", true],
  ["erlang", "{price, 1}", false],
  ["r", "lapply(xs, price)", true],
  ["r", "f(price = 1)", false],
  ["r", "a.price(1)", false],
  ["julia", "map(price, xs)", true],
  ["sql", "select price(1);", true],
  ["sql", "EXEC dbo.price @id = 1;", true],
  ["sql", "select * from shop.price p", true],
  ["sql", "for each row execute function price();", true],
  ["sql", "drop function if exists price(int);", false],
  ["sql", "DROP FUNCTION IF EXISTS @extschema@.price(int);", false],
  ["sql", "select a.price", false],
  ["pascal", "{ price } a;", false],
  ["pascal", "(* a *) price;", true],
  ["pascal", "{ a } price(* b *);", true],
  ["d", "/+ price(a) +/ b;", false],
  ["julia", "#= price(a) =# b", false],
  ["lisp", "#| (price a) |# b", false],
  ["objective-c", "* price(a)", false],
  ["julia", "* price(a)", true],
  ["nix", "a // price b", true],
  ["nix", "total = price 1;", true],
  ["nix", 'a."${price b}".text = "";', true],
  ["nix", 'description = "the price";', false],
  ["nix", "price = n: n;", false],
  ["nix", "{ lib, price, ... }:", false],
  ["nix", "inherit (lib) price;", false],
  ["rego", "total := price(item)", true],
  ["rego", "price {", false],
  ["jsonnet", "total: lib.price(item),", true],
  ["jsonnet", "price: 1,", false],
  ["just", "build: price", true],
  ["just", "price: build", false],
  ["meson", "executable('a', dependencies: price)", true],
  ["meson", "price = dependency('a')", false],
  ["gradle", "dependsOn price", true],
  ["autoconf", "price([1])", true],
  ["autoconf", "AC_DEFUN([price], [", false],
  ["puppet", "cart::price { 'a':", true],
  ["puppet", "include cart::price", true],
  ["puppet", "class cart::price (", false],
  ["assembly", "call price", true],
  ["assembly", "price:", false],
  ["assembly", ".globl price", false],
  ["grammar", "expr : price '+' price ;", true],
  ["grammar", "price : NAME ;", false],
  ["grammar", "fragment price : NAME ;", false],
  ["assembly", "END(price)", false],
  ["autoconf", "m4_define([price], 1)", false],
  ["puppet", "include price, total", true],
  ["rego", "price(user) := true if {", false],
  ["rego", "price(user)", true],
  ["nix", "{ price ? {}, b ? 1 }: x", false],
  ["just", "alias b := price", true],
  ["just", "echo http:price", false],
  ["fortran", "procedure, public :: cost => price", true],
  ["fortran", "module procedure total, price", true],
  ["fortran", "real :: price", false],
  ["julia", "[x for x in xs if !price(x)]", true],
  ["julia", "price!(x)", false],
  ["crystal", "next if !price", true],
  ["d", 'coll.price!string("b")', true],
  ["d", "x = price != 1;", false],
  ["crystal", "total = a.price", true],
  ["crystal", "@price = 1", false],
  ["nim", "if item.price:", true],
  ["powershell", "$a = price -Name b", true],
  ["powershell", "$price = 1", false],
  ["powershell", "PS C:\\> price -Name b", false],
  ["powershell", "https://example.com/price", false],
  ["coffeescript", "price a, b", true],
  ["coffeescript", "price: 1", false],
  ["vim", "call map(a, function('s:price'))", true],
  ["vim", '" price() is', false],
  ["ada", "end price;", false],
  ["pascal", "Shop.price;", true],
  ["cobol", "PERFORM price", true],
  ["verilog", "price #(1) of_it (a);", true],
  ["vhdl", "u1: entity work.price port map (a);", true],
  ["vhdl", "entity price is", false],
  ["objective-c", "[self price];", true],
  ["objective-c", "[[a b] price:1 of:2];", true],
  ["objective-c", "a = @selector(price:);", true],
  ["objective-c", "a = b.price;", true],
  ["objective-c", "- (int)price:(int)a;", false],
  ["objective-c", "int price = 1;", false],
  ["solidity", "function a() external price {", true],
  ["solidity", "bytes4 a = this.price.selector;", true],
  ["solidity", "uint price = 1;", false],
  ["vala", "a.connect (price);", true],
  ["vala", "{ ACTION, price },", true],
  ["vala", "int price = 1;", false],
  ["vala", "a = price + 1;", false],
  ["haxe", "button.onClick = price;", true],
  ["terraform", "value = var.price", true],
  ["terraform", "value = module.shop.price", true],
  ["terraform", "price = 1", false],
  ["makefile", "all: price other", true],
  ["makefile", "$(MAKE) -C a price", true],
  ["makefile", "price: all", false],
  ["makefile", "A := price", false],
  ["makefile", ".PHONY: price", false],
  ["haskell", "x = 1 {- price -}", false],
  ["ocaml", "f a (* price of it *)", false],
  ["fsharp", "type T = { price: int }", false],
  ["fsharp", "let inline price a = a", false],
  ["fsharp", "member this.price a = a", false],
  ["gleam", "fn(price) { 1 }", false],
  ["gleam", "price -> 1", false],
  ["erlang", "-spec price(A) -> B.", false],
  ["erlang", "?price(1)", false],
  ["clojure", "(declare price)", false],
  ["r", "`price` <- 1", false],
  ["r", "function(price) 1", false],
  ["julia", "export a, price", false],
  ["julia", "get(a, :price)", false],
  ["perl", "=item price", false],
  ["tcl", "# price is", false],
  ["tcl", "set price 1", false],
  ["gdscript", "signal price", false],
  ["vb", "Dim price As Integer", false],
  ["powershell", "Function price {", false],
  ["pascal", "a; { price does }", false],
  ["fortran", "call price(a)", true],
  ["fortran", "integer :: price", false],
  ["fortran", "use foo, only: price", false],
  ["fortran", "procedure price", false],
  ["ada", "procedure price;", false],
  ["cobol", "MOVE price TO a", false],
  ["cobol", "01 price PIC X.", false],
  ["fish", "set -l price 1", false],
  ["verilog", "wire price;", false],
  ["verilog", "input [3:0] price (", false],
  ["verilog", ".price(a),", false],
  ["verilog", "`ifdef price", false],
  ["verilog", "endmodule : price", false],
  ["verilog", "a = `price;", true],
  ["makefile", "help: ; @echo price", false],
  ["makefile", '@echo "Usage: make price"', false],
  ["solidity", "uint256 public price;", false],
  ["solidity", "function a() view returns (uint price) {", false],
] as const)("%s: %s", (language, line, uses) => {
  expect(namedInLine(language, line, PRICE) !== undefined).toBe(uses);
});

it.each([
  ["lisp", "(price a)", "sole"],
  ["lisp", "(let ((price 1))", "name"],
  ["erlang", "price(A)", "sole"],
  ["erlang", "gen_server:call(A, price, 10)", "name"],
  ["gleam", "a |> price", "sole"],
  ["gleam", "f(a, price)", "name"],
  ["r", "price(a)", "sole"],
  ["r", "lapply(a, price)", "name"],
  ["fish", "and price a", "sole"],
  ["fish", "set -q a price", "name"],
  ["fortran", "call price(a)", "sole"],
  ["fortran", "a = price(b)", "name"],
  ["fsharp", "a |> f price", "sole"],
  ["fsharp", "a = price.Value", "name"],
  ["cobol", "PERFORM price", "sole"],
  ["perl", "price(a)", "name"],
  ["ada", "price;", "name"],
])("what a name of one definition alone may mean in %s: %s", (language, line, meant) => {
  expect(namedInLine(language, line, PRICE)).toBe(meant);
});

it("only functions, and what is instantiated in descriptions of hardware, are used in lines", () => {
  expect(isUsedInLines("haskell", "function")).toBe(true);
  expect(isUsedInLines("haskell", "type")).toBe(false);
  expect(isUsedInLines("verilog", "module")).toBe(true);
  expect(isUsedInLines("typescript", "function")).toBe(false);
});

it("lines of quotes, backslashes and names take linear time", () => {
  for (const part of ["'", '"', "\\", "price ", "'\"", "{price}", "qw ", "[a price] "])
    for (const language of ["haskell", "perl", "clojure", "objective-c", "solidity", "vim"])
      namedInLine(language, part.repeat(100_000 / part.length), PRICE);
});

it("a class of Objective-C is used where it gets a message", () => {
  const cart = { name: "Cart", owners: new Set<string>() };
  expect(namedInLine("objective-c", "a = [[Cart alloc] init];", cart)).toBe("name");
  for (const line of ["@class Cart;", "@interface Basket : Cart", "Cart *a = nil;", "@implementation Cart"])
    expect(namedInLine("objective-c", line, cart)).toBeUndefined();
});

it("callers of functions of Haskell are the definitions that name them, not heads of clauses, exports and imports", async () => {
  const files = {
    "src/Shop.hs": [
      "module Shop",
      "  ( price",
      "  ) where",
      "",
      "price :: Int -> Int",
      "price 0 = 0",
      "price n",
      "  | n > 1 = price (n - 1)",
      "  | otherwise = 1",
      "",
      "{-# COMPLETE " + "A, ".repeat(2_000) + "B #-}",
      "total :: [Int] -> Int",
      "total = sum . map price",
      "",
    ].join("\n"),
    "src/Main.hs": "module Main where\nimport Shop (price)\n\nmain :: IO ()\nmain = print (price 1)\n",
    "web.js": "price(1);\nvar b = price;\n",
  };
  expect(await callersOf(files, "price")).toEqual([
    "src/Main.hs:5 name",
    "src/Shop.hs:13 name",
    "src/Shop.hs:8 name",
    "web.js:1 name",
  ]);
  expect(await callersOf(files, "total")).toEqual([]);
});

it("a function that is the only one of a name of several words is likely to be meant, and its callers are followed", async () => {
  const files = {
    "a.hs": "unitPrice :: Int\nunitPrice = 1\n\nprice :: Int\nprice = unitPrice + unitPrice\n",
    "b.hs": "listPrice = 1\n\ntotalPrice = price + unitPrice\n\nshow = print totalPrice\n",
    "c.hs": "listPrice = 2\n\nother = listPrice\n",
    "d.el": "(defun my-fun (a)\n  \"Like `my-fun', or\nmy-fun with b.\"\n  (my-fun b) (list #'my-fun))\n",
  };
  expect(await callersOf(files, "unitPrice")).toEqual(["a.hs:5 likely", "b.hs:3 likely"]);
  expect(await callersOf(files, "totalPrice")).toEqual(["b.hs:5 likely"]);
  expect(await callersOf(files, "listPrice")).toEqual(["c.hs:3 name"]);
  expect(await callersOf(files, "my-fun")).toEqual(["d.el:3 name", "d.el:4 likely"]);
});

it("a module of Terraform and a resource are used with what is before their names", async () => {
  const files = {
    "main.tf": 'module "price" {\n  source = "./a"\n}\n\nresource "aws_vpc" "price" {\n  a = module.price.id\n}\n',
    "outputs.tf": 'output "b" {\n  value = aws_vpc.price.id\n}\n\noutput "c" {\n  value = var.price\n}\n',
  };
  expect(await callersOf(files, "module.price")).toEqual(["main.tf:6 likely"]);
  expect(await callersOf(files, "aws_vpc.price")).toEqual(["outputs.tf:2 likely"]);
});

it("callers of functions of Clojure call or hand them over; a list of imported names does not", async () => {
  const files = {
    "src/shop.clj": "(ns shop)\n\n(defn item-price [a]\n  (inc a))\n\n(defn total [xs]\n  (map item-price xs))\n",
    "src/main.clj": "(ns main\n  (:require [shop :refer [item-price]]))\n\n(defn run [] (-> 1 item-price))\n",
  };
  expect(await callersOf(files, "item-price")).toEqual([
    "src/main.clj:2 name",
    "src/main.clj:4 name",
    "src/shop.clj:7 name",
  ]);
});

it("reads the files beside a definition first where thousands of files mention its name", async () => {
  const files: Record<string, string> = { "z/cart.tcl": "proc price {} {\n}\n", "z/use.tcl": "price\n" };
  for (let i = 0; i < 1_100; i++) files[`b/${i}.tcl`] = `set price ${i}\n`;
  expect(await callersOf(files, "price")).toContain("z/use.tcl:1 name");
});

it("finds a name of several words where thousands of files mention the first one", async () => {
  const files: Record<string, string> = { "a/cart.ps1": "function Get-Cart {\n}\n", "z.ps1": "Get-Cart -Name b\n" };
  for (let i = 0; i < 1_100; i++) files[`b/${i}.ps1`] = `Get-Item ${i}\n`;
  expect(await callersOf(files, "Get-Cart")).toEqual(["z.ps1:1 name"]);
});

it("finds the handlers that a form of Delphi names, and procedures that tests of Tcl call", async () => {
  const files = {
    "a/cart.pas": "procedure TCart.PayClick(Sender: TObject);\nbegin\nend;\n",
    "a/cart.dfm":
      "object Cart: TCart\n  object Pay: TButton\n    Caption = 'PayClick'\n    OnClick = PayClick\n  end\nend\n",
    "b/price.tcl": "proc priceOf {x} {\n  return $x\n}\n",
    "b/price.test": "package require tcltest\ntest price-1 {x} -body {\n  priceOf 1\n} -result 1\n",
  };
  expect(await callersOf(files, "TCart.PayClick")).toEqual(["a/cart.dfm:4 name"]);
  expect(await callersOf(files, "priceOf")).toEqual([expect.stringMatching(/^b\/price\.test:3 /)]);
});

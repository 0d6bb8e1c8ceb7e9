import { expect, it } from "vitest";
import { codeLines } from "../../../src/engines/search/comment-lines.ts";

it.each([
  ["typescript", "/* a\n * b\n */\n// c\nf(); // d\n*p = 1;", "....xx"],
  ["python", '"""a\nb"""\n# c\nf()\n}', "...x."],
  ["php", "# a\nf();", ".x"],
  ["sql", "-- a\n/* b\nc */ select 1;\nselect 2;", "..xx"],
  ["haskell", "-- a\n{- b\n-}\nf x = x", "...x"],
  ["ocaml", "(* a *)\n(* b\nc *)\nlet x = 1", "...x"],
  ["lisp", ";; a\n(f x)", ".x"],
  ["erlang", "%% a\nf() -> 1.", ".x"],
  ["pascal", "{ a\nb }\n{ c } d;\n(* e *)", "..x."],
  ["d", "/+ a\nb\n+/\nf();", "...x"],
  ["perl", "=head1 a\nb\n=cut\nf();", "...x"],
  ["ruby", "=begin\na\n=end\nf", "...x"],
  ["lua", "--[[ a\nb ]]\nf()", "..x"],
  ["coffeescript", "###\na\n###\n#### b\nf()", "....x"],
  ["nix", "a\n// { b = 1; }", "xx"],
  ["cue", 'a: string |\n* "b"', "xx"],
  ["cobol", "000100* a\n000200 b.", ".x"],
  ["batch", "rem a\n:: b\nremove c", "..x"],
  ["fortran", "c a\n      call b", ".x"],
  ["fortran", "! a\nx = 1", ".x"],
  ["terraform", "# a\n// b\n/* c */\nd = 1", "...x"],
  ["latex", "% a\ntext", "xx"],
])("lines of %s are code besides blank ones and comments: %j", (language, text, expected) => {
  const found = codeLines(text.split("\n"), language);
  expect(found.map((isCode) => (isCode ? "x" : ".")).join("")).toBe(expected);
});

import { describe, expect, it } from "vitest";
import {
  detectLanguage,
  contentLanguage,
  isDefaultIncluded,
  mayBeScript,
} from "../../../src/engines/parsing/detect.ts";
import { LANGUAGES } from "../../../src/engines/parsing/languages.ts";
import { contentSkipReason, skipReason } from "../../../src/engines/parsing/skip.ts";
import { encode } from "./support.ts";

describe("language", () => {
  it.each([
    ["src/a.ts", "typescript"],
    ["a.d.mts", "typescript"],
    ["A.TSX", "tsx"],
    ["x/y.jsx", "javascript"],
    ["a.h", "c"],
    ["a.hpp", "cpp"],
    ["Dockerfile", "dockerfile"],
    ["docker/Dockerfile.dev", "dockerfile"],
    ["api.dockerfile", "dockerfile"],
    ["Makefile", "makefile"],
    ["Gemfile", "ruby"],
    [".bashrc", "bash"],
    ["CMakeLists.txt", "cmake"],
    ["README", "text"],
    ["日本/ファイル.py", "python"],
    ["LICENSE", "text"],
    ["src/config.h.in", "c"],
    ["Makefile.in", "makefile"],
    ["etcd.conf.yml.sample", "yaml"],
    ["server/go.mod", "go-mod"],
    ["grammar/parser.y", "yacc"],
    ["index.html.heex", "template"],
    ["pkg/BUILD", "starlark"],
    ["BUILD.bazel", "starlark"],
    ["report.ipynb", "notebook"],
  ])("of %s is %s", (path, language) => {
    expect(detectLanguage(path)).toBe(language);
  });

  it.each([
    ["#!/bin/sh\n", "bash"],
    ["#!/usr/bin/env python3.12\n", "python"],
    ["#! /usr/bin/env -S deno run\n", "typescript"],
    ["#!/usr/bin/env FOO=1 node\r\n", "javascript"],
    ["#!/usr/bin/perl -w\n", "perl"],
    ["#!/opt/unknown\n", undefined],
    ["no shebang", undefined],
  ])("of a file without extension that begins with %j is %s", (head, language) => {
    expect(detectLanguage("bin/tool", encode(head))).toBe(language);
  });

  it("is unknown where neither name nor content tells", () => {
    expect(detectLanguage("data.xyz")).toBeUndefined();
    expect(detectLanguage("scripts/build")).toBeUndefined();
    expect(detectLanguage(".ts")).toBeUndefined();
    expect(detectLanguage("noext")).toBeUndefined();
    expect(detectLanguage("case1.in")).toBeUndefined();
    expect(detectLanguage(".in")).toBeUndefined();
  });

  it.each([
    ["bin/tool", true],
    ["test/fast/Unit tests/nvm_alias 1.2", true],
    ["logo.png", false],
    ["a.ts", false],
    ["LICENSE", false],
    [".envrc", true],
  ])("of %s may be told by its first line: %s", (path, expected) => {
    expect(mayBeScript(path)).toBe(expected);
  });

  it.each([
    ["namespace a {\nint f();\n}\n", true],
    ["#ifndef A_H\n#define A_H\ntemplate <typename T> T f();\n#endif\n", true],
    ["class A;\n", true],
    ["#include <vector>\n", true],
    ["  inline bool operator==(A a, A b) { return true; }\n", true],
    ['#ifdef __cplusplus\nextern "C" {\nclass A;\n#endif\nint f(void);\n', false],
    ["#include <stdio.h>\nint namespace_count;\nstruct class *a;\n", false],
    ["/* template <typename T>\n   class A; */\n// std::string\nint f(void);\n", false],
  ])("of a header %j is C++: %s", (text, expected) => {
    expect(contentLanguage("c", encode(text))).toBe(expected ? "cpp" : "c");
  });

  it.each([
    ["#import <Foundation/Foundation.h>\n@interface Cart : NSObject\n@end\n", "objective-c"],
    ["#ifdef __OBJC__\n@class NSString;\n#endif\nint f(void);\n", "c"],
    ["/** @interface of a cart */\nint f(void);\n", "c"],
    ["/**\n@class Cart\n@brief Sells.\n@interface of it\n*/\nstruct cart { int a; };\n", "c"],
    ["@class NSView;\nnamespace a { class Cart; }\n", "cpp"],
    ["@class Cart, Item;\nvoid sell(Cart *cart);\n", "objective-c"],
  ])("of a header %j is %s", (text, expected) => {
    expect(contentLanguage("c", encode(text))).toBe(expected);
  });

  it.each([
    ['<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n<TS version="2.1">\n', "xml"],
    ["\u{FEFF}<!DOCTYPE TS><TS>\n", "xml"],
    ["const a = 1;\n", "typescript"],
    ["<T>(x: T) => x;\n", "typescript"],
  ])("of `.ts` %j is %s", (text, expected) => {
    expect(contentLanguage("typescript", encode(text))).toBe(expected);
  });

  it.each([
    ["// Sells.\npublic with sharing class Shop {\n}\n", "apex"],
    ["@isTest private class ShopTest {\n}\n", "apex"],
    ["abstract class of things\nwith class imbalance\n", "latex"],
    ["\\section{A}\npublic class Shop {\n", "latex"],
    ["\\NeedsTeXFormat{LaTeX2e}\n\\ProvidesClass{a public class}\n", "latex"],
  ])("of `.cls` %j is %s", (text, expected) => {
    expect(contentLanguage("latex", encode(text))).toBe(expected);
  });

  it.each([
    ["Test of the command\n\n  $ dune build\n  Done\n", "text"],
    ["use Test::More;\nis `  $ x`, 1;\n", "perl"],
    ["#!/usr/bin/perl -w\n\n  $ x\n", "perl"],
    ["print 1;\n", "perl"],
    ["my $x = <<E;\n  $ ls\nE\n", "perl"],
  ])("of `.t` %j is %s", (text, expected) => {
    expect(contentLanguage("perl", encode(text))).toBe(expected);
  });

  it.each([
    ["From Stdlib Require Import List.\nLemma a : True.\n", "text"],
    ["Definition mynat := nat.\n", "text"],
    ["module a(input b);\nendmodule\n", "verilog"],
    ["// Definition of a\n`define A 1\n", "verilog"],
    ["/*\nDefinition of x\n*/\n`define A 1\n", "verilog"],
  ])("of `.v` %j is %s", (text, expected) => {
    expect(contentLanguage("verilog", encode(text))).toBe(expected);
  });

  it.each([
    ["test first-1.0 {says} -body {\n  first\n} -result 1\n", "tcl"],
    ["do_execsql_test first-1.1 {\n  SELECT 1\n}\n", "tcl"],
    ["source [file join a b.tcl]\n", "tcl"],
    ["set name $other\n", "tcl"],
    ["set name 1\n", "tcl"],
    ["set @name = 1;\nset global a = 2;\nif ($a)\n{\n}\n", "text"],
    ["(\n\tfoo &&\n\tif cond; then bar\n\tfi\n)\n", "text"],
    ["# RUN: llc %s | FileCheck %s\n", "text"],
  ])("of `.test` %j is %s", (text, expected) => {
    expect(detectLanguage("a/first.test")).toBe("tcl");
    expect(contentLanguage("tcl", encode(text))).toBe(expected);
  });

  it.each([
    ["# Sells.\nclass cart::shop (\n  String $name,\n) {\n}\n", "puppet"],
    ["include cart\n", "puppet"],
    ["class cart ($x = 'a') {\n  cart::item { 'a':\n    interface => 'b',\n  }\n}\n", "puppet"],
    ["package { 'cart':\n  ensure => present,\n}\n", "puppet"],
    ["function foo(a: integer): integer; cdecl; external;\n", "pascal"],
    ["unit Cart;\ninterface\nuses Classes;\ntype Item = class\nend;\n", "pascal"],
    ["program Cart;\nbegin\nend.\n", "pascal"],
  ])("of `.pp` %j is %s", (text, expected) => {
    expect(contentLanguage("pascal", encode(text))).toBe(expected);
  });

  it.each([
    ["__kernel void add(__global int *a) {\n}\n", "c"],
    ["(defun add (a) a)\n", "lisp"],
    [';; of __global names\n(defun foo (x) "kernel void" x)\n', "lisp"],
  ])("of `.cl` %j is %s", (text, expected) => {
    expect(contentLanguage("lisp", encode(text))).toBe(expected);
  });

  it("of a header is judged in bounded work", () => {
    const started = process.cpuUsage();
    for (const unit of ["operator ", "namespace a::", "/*", "\n#if", "class", " ", "a::b", "\n@interface\t", "\n# if"])
      contentLanguage("c", encode(unit.repeat(1_000_000 / unit.length)));
    expect(process.cpuUsage(started).user).toBeLessThan(10e6);
  });

  it("table has every extension and file name once, in lower case", () => {
    const extensions = LANGUAGES.flatMap((row) => row.extensions);
    const filenames = LANGUAGES.flatMap((row) => row.filenames);
    for (const keys of [extensions, filenames]) {
      expect(new Set(keys).size).toBe(keys.length);
      expect(keys.map((key) => key.toLowerCase())).toEqual(keys);
    }
  });

  it("decides what is indexed by default", () => {
    for (const path of ["a.ts", "b.md", "c.tf", "Dockerfile", "x.proto", "d.txt"])
      expect(isDefaultIncluded(path)).toBe(true);
    for (const path of ["a.png", "b.csv", "c.bin", "d.patch", "noext"]) expect(isDefaultIncluded(path)).toBe(false);
  });
});

describe("paths left out", () => {
  it.each([
    ["node_modules/a/index.js", "vendored"],
    ["a/vendor/b.go", "vendored"],
    ["third_party/x.c", "vendored"],
    ["package-lock.json", "lockfile"],
    ["sub/Cargo.lock", "lockfile"],
    ["go.sum", "lockfile"],
    ["js/jquery.min.js", "minified"],
    ["x.pb.go", "generated"],
    ["dist/index.js", "generated"],
    ["a.js.map", "generated"],
    ["src/vendor.ts", undefined],
    ["src/distance/a.ts", undefined],
    ["lib/minify.js", undefined],
    ["src/lockfile.ts", undefined],
  ])("%s: %s", (path, reason) => {
    expect(skipReason(path)).toBe(reason);
  });
});

describe("contents left out", () => {
  it.each([
    ["a NUL byte", Uint8Array.of(65, 0, 66), "binary"],
    ["a NUL byte far in", Uint8Array.from([...encode("a".repeat(20_000)), 0]), "binary"],
    ["UTF-16 with a mark", Uint8Array.of(0xff, 0xfe, 0x41, 0), "utf16"],
    ["UTF-16 of the other order", Uint8Array.of(0xfe, 0xff, 0, 0x41, 0), "utf16"],
    ["UTF-16 without a mark", Uint8Array.of(0x41, 0), "binary"],
    ["UTF-16 with a NUL character", Uint8Array.of(0xff, 0xfe, 0x41, 0, 0, 0), "binary"],
    ["UTF-32", Uint8Array.of(0xff, 0xfe, 0, 0, 0x41, 0, 0, 0), "binary"],
    ["bytes of no encoding", Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x81, 0x02), "binary"],
    ["Latin-1", Uint8Array.of(0x63, 0x61, 0x66, 0xe9, 0x0a), undefined],
    ["UTF-8", encode("naïve 日本語 😀\n"), undefined],
    ["nothing", new Uint8Array(), undefined],
    [
      "an LFS pointer",
      encode(`version https://git-lfs.github.com/spec/v1\noid sha256:${"a".repeat(64)}\nsize 12345\n`),
      "lfs",
    ],
    ["a generator's header", encode("// Code generated by protoc-gen-go. DO NOT EDIT.\npackage a\n"), "generated"],
    ["an @generated mark", encode("/**\n * @generated by codegen\n */\n"), "generated"],
    [
      "a mark behind quotes in a comment",
      encode('// The "x" of "auto-generated by x" (do not edit) is y.\n// Auto-generated by x. Do not edit.\n'),
      "generated",
    ],
    ["a mark in single quotes", encode("const H = '// Auto-generated by x, do not edit';\n"), undefined],
    ["a mark of Vim", encode('" This file is automatically generated\nset nocompatible\n'), "generated"],
    [
      "a mark in a string",
      encode('use std::fs;\nfn f() {\n  "// AUTOGENERATED FILE. DO NOT EDIT.\\n".to_string();\n}\n'),
      undefined,
    ],
    [
      "a mark in a template",
      encode("import fs from 'fs';\nfs.write(`\n// This file is autogenerated by x\n`);\n"),
      undefined,
    ],
    ["talk about generators", encode("// Writes the 'Code generated … DO NOT EDIT.' header.\npackage a\n"), undefined],
  ])("%s: %s", (_name, bytes, reason) => {
    expect(contentSkipReason(bytes)).toBe(reason);
  });

  it("not text that mixes UTF-8 with Latin-1 or Windows-1252", () => {
    const mixed = Uint8Array.from([
      ...encode("// Ünïcödé ✓\nint a; // caf"),
      0xe9,
      0x20,
      0x93,
      0x41,
      0x94,
      0x0a,
      ...encode("int b;\n".repeat(30)),
    ]);
    expect(contentSkipReason(mixed)).toBeUndefined();
    expect(contentSkipReason(Uint8Array.from({ length: 400 }, (_, index) => 128 + ((index * 7) % 128)))).toBe("binary");
  });

  it("minified code, but not prose with a paragraph a line", () => {
    expect(contentSkipReason(encode("var a=1;".repeat(4000)))).toBe("minified");
    expect(contentSkipReason(encode("var a = 1;\n".repeat(4000)))).toBeUndefined();
    expect(contentSkipReason(encode("A sentence of a long paragraph. ".repeat(1000)))).toBeUndefined();
    expect(contentSkipReason(encode("这是一个很长的段落。".repeat(1000)))).toBeUndefined();
  });
});

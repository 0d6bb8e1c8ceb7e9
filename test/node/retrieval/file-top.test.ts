import { describe, expect, it } from "vitest";
import { codeLines } from "../../../src/engines/search/comment-lines.ts";
import { endOfHeader } from "../../../src/engines/search/file-top.ts";

const lineOf = (number: number, text: string, isCode: boolean) => ({
  number,
  text,
  isCode,
  isHead: false,
  strength: text.includes("match") ? 1 : 0,
});

/** The line that the shown part begins with; lines with the word "match" match. */
function firstShown(language: string, text: string): string | undefined {
  const texts = text.split("\n");
  const isCode = codeLines(texts, language);
  return texts[endOfHeader(texts.map((own, i) => lineOf(i + 1, own, isCode[i] === true)))];
}

describe("the top of a file", () => {
  it.each([
    [
      "go",
      '// Copyright 2015\n// match\n\npackage a\n\nimport (\n\t"fmt"\n)\n\n// Parse parses.\nfunc Parse() {}',
      "// Parse parses.",
    ],
    ["typescript", 'import {\n  a,\n} from "b";\nimport c from "match";\n\n// Section\n\nconst x = 1;', "const x = 1;"],
    ["c", "/* Licensed under X */\n#ifndef A_H\n#define A_H\n#include <a.h>\n\nint f(void);", "int f(void);"],
    ["c", "#include <a.h>\n\n/*\n * How lines match.\n */\n\nint f(void);", "/*"],
    ["php", "<?php\n\nnamespace A\\B;\n\nuse C;\n\n/** Doc. */\nclass D {}", "/** Doc. */"],
    ["python", '"""Says how to match."""\nimport os\n\nx = 1', '"""Says how to match."""'],
    ["rust", "use a::{\n    b,\n};\nfn f() {}", "fn f() {}"],
    ["javascript", '"use strict";\nconst a = require("a");\nfunction f() {}', "function f() {}"],
  ])("is not shown in %s", (language, text, first) => {
    expect(firstShown(language, text)).toBe(first);
  });

  it("is shown where there is nothing else", () => {
    expect(firstShown("go", "package a\n\nimport (\n)")).toBe("package a");
    expect(firstShown("c", "/* Copyright */")).toBe("/* Copyright */");
  });

  it("is read in linear time", () => {
    const many = (text: string, isCode: boolean) =>
      Array.from({ length: 20_000 }, (_, i) => lineOf(i + 1, text, isCode));
    const line = `const ${"a = ".repeat(200)}`;
    expect(endOfHeader(many(line, false))).toBe(0);
    expect(endOfHeader(many(line, true))).toBe(0);
    expect(endOfHeader(many("import a from {", true))).toBe(0);
  });
});

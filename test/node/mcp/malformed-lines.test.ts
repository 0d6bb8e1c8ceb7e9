import { expect, it } from "vitest";
import { MalformedLines } from "../../../src/interface/mcp/malformed-lines.ts";

const codesOf = (lines: MalformedLines, text: string) =>
  lines
    .answersTo(Buffer.from(text))
    .map((answer) => (JSON.parse(answer) as { error: { code: number }; id: unknown }).error.code);

it("answers nothing to messages of each kind, in whatever parts they arrive", () => {
  const messages = [
    { jsonrpc: "2.0", id: 1, method: "ping" },
    { jsonrpc: "2.0", method: "notifications/initialized" },
    { jsonrpc: "2.0", id: "a", result: {} },
    { jsonrpc: "2.0", id: 2, error: { code: 1, message: "é" } },
  ];
  const text = Buffer.from(messages.map((message) => `${JSON.stringify(message)}\r\n`).join("\n"));
  for (const size of [1, 7, text.length]) {
    const lines = new MalformedLines();
    for (let at = 0; at < text.length; at += size) expect(lines.answersTo(text.subarray(at, at + size))).toEqual([]);
  }
});

it("tells what is no JSON from what is no message", () => {
  const lines = new MalformedLines();
  expect(codesOf(lines, '{"a"\nnull\n{"jsonrpc":"2.0","id":1}\n{"jsonrpc":"1.0","method":"ping"}\n')).toEqual([
    -32_700, -32_600, -32_600, -32_600,
  ]);
  expect(codesOf(lines, "x")).toEqual([]);
  expect(codesOf(lines, "\n")).toEqual([-32_700]);
});

it("keeps no line that is too long", () => {
  const lines = new MalformedLines();
  const part = "x".repeat(1024 * 1024);
  for (let parts = 0; parts < 11; parts++) expect(codesOf(lines, part)).toEqual([]);
  // Nothing of it is left, and a blank line has no answer.
  expect(codesOf(lines, '\n{"jsonrpc":"2.0","id":1,"method":"ping"}\n{\n')).toEqual([-32_700]);
});

it("answers what the SDK takes for no message", () => {
  const lines = new MalformedLines();
  for (const message of [{ params: "x" }, { params: [] }, { id: 1.5 }, { id: null }, { extra: 1 }]) {
    const text = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping", ...message });
    expect(codesOf(lines, `${text}\n`), text).toEqual([-32_600]);
  }
});

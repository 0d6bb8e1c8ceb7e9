import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Output } from "../../../src/cli/terminal/output.ts";

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "codectx-output-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const noStream = (): never => expect.fail("a stream was made");

it("writes a text to a file without a stream, and knows that it is no terminal", () => {
  const file = join(folder, "out");
  const fd = openSync(file, "w");
  const output = new Output(fd, noStream, noStream);
  output.write("one ä\n");
  output.write("two\n");
  expect(output.isTTY).toBe(false);
  closeSync(fd);
  expect(readFileSync(file, "utf8")).toBe("one ä\ntwo\n");
});

it("reports what cannot be written", () => {
  const fd = openSync(join(folder, "out"), "w");
  closeSync(fd);
  const onError = vi.fn();
  new Output(fd, noStream, onError).write("one\n");
  expect(onError).toHaveBeenCalledWith(expect.objectContaining({ code: "EBADF" }));
});

it("goes on with the stream once there is one, so that texts stay in order", () => {
  const written: string[] = [];
  const stream = { on: () => stream, write: (text: Uint8Array) => written.push(Buffer.from(text).toString()) };
  const output = new Output(-1, () => stream as unknown as NodeJS.WriteStream, noStream);
  void output.stream;
  output.write("one\n");
  expect(written).toEqual(["one\n"]);
});

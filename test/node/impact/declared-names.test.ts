import { expect, it } from "vitest";
import { declaredNames } from "../../../src/interface/questions/impact/interfaces.ts";

it.each([
  ["export function parse(text: string): Cookie {", ["parse"]],
  ["func (s *Store) Close() error {", ["Close"]],
  ["    pub fn from_mode(mode: Mode) -> Self {", ["from_mode"]],
  ["  def save!(user)", ["save!"]],
  ["    fun send(mail: Mail) {", ["send"]],
  ["  protected scheduleGc(): void {", ["scheduleGc"]],
  ["  async #load(path: string): Promise<Buffer> {", ["load"]],
  ["  #drop(path) {", ["drop"]],
  ["    public static <T> List<T> copyOf(List<? extends T> all) throws IOException {", ["copyOf"]],
  ["static void *alloc(size_t size) {", ["alloc"]],
  ["export const hash = (key: string): string =>", ["hash"]],
  ["const isEmpty = value => value.length === 0;", ["isEmpty"]],
  ["let run = async function () {", ["run"]],
  ["  } else if (isReady(task)) {", []],
  ["  for (const each of list) {", []],
  ["  return new Store(path) {", []],
  ['describe("a store", () => {', []],
  ["const total = (first + second) * 2;", []],
  ["// The function that parses is gone.", []],
  [" * class of a store", []],
  ["# def is a keyword", []],
])("%s declares %j", (line, names) => {
  expect(declaredNames(line)).toEqual(names);
});

it.each(["a ", "a(", "(", "const a=(", "a<b> ", "*&", "{ "])("reads a long line of %j in bounded time", (part) => {
  const line = part.repeat(1_000_000 / part.length);
  const startedAt = performance.now();
  declaredNames(line);
  declaredNames(line.slice(0, 300));
  expect(performance.now() - startedAt).toBeLessThan(1_000);
});

import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { OperatorError } from "../../../src/tooling/errors.ts";
import { copyTemplate, ensureTemplate } from "../../../src/tooling/local/database/template.ts";

let folder = "";
let made = 0;
const templates = () => path.join(folder, "templates");

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "code-context-template-"));
  made = 0;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function make(database: string): Promise<void> {
  made++;
  mkdirSync(path.join(database, "base"));
  writeFileSync(path.join(database, "base", "1"), "data");
}

it("is made once, and removes earlier templates and what killed processes left, unless they may be in use", async () => {
  const age = (name: string, hours: number): void => {
    const old = path.join(templates(), name);
    mkdirSync(path.join(old, "base"), { recursive: true });
    const at = Date.now() / 1000 - hours * 3600;
    utimesSync(old, at, at);
  };
  age("0123456789abcdef", 2);
  age(".0123456789abcdef-killed", 2);
  age("fedcba9876543210", 0.5);
  age(".fedcba9876543210-working", 0.5);
  const template = await ensureTemplate(make, templates());
  const left = [path.basename(template), "fedcba9876543210", ".fedcba9876543210-working"];
  expect(readdirSync(templates()).toSorted()).toEqual(left.toSorted());
  expect(await ensureTemplate(make, templates())).toBe(template);
  expect(made).toBe(1);
});

it("leaves nothing where the database cannot be made", async () => {
  const failing = () => Promise.reject(new Error("no room"));
  await expect(ensureTemplate(failing, templates())).rejects.toThrow("no room");
  expect(readdirSync(templates())).toEqual([]);
});

it("is copied again if another process removes it meanwhile, and says so if there is no room", async () => {
  const removals = [true];
  const copy: typeof cpSync = (from, to, options) => {
    if (removals.pop()) {
      mkdirSync(path.join(String(to), "half"));
      rmSync(from, { recursive: true });
    }
    cpSync(from, to, options);
  };
  const database = path.join(folder, "database");
  await copyTemplate(make, database, { templates: templates(), copy });
  expect(made).toBe(2);
  expect(readFileSync(path.join(database, "base", "1"), "utf8")).toBe("data");
  expect(readdirSync(database)).toEqual(["base"]);
  expect(statSync(database).mode & 0o777).toBe(0o700);

  removals.push(true, true);
  const other = path.join(folder, "other");
  await expect(copyTemplate(make, other, { templates: templates(), copy })).rejects.toMatchObject({ code: "ENOENT" });
  expect(existsSync(other)).toBe(false);

  const full = () => {
    throw Object.assign(new Error("EIO, Input/output error"), { code: "EIO" });
  };
  await expect(copyTemplate(make, other, { templates: templates(), copy: full })).rejects.toThrow(OperatorError);
  expect(existsSync(other)).toBe(false);
});

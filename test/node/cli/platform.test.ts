import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { toCliError } from "../../../src/cli/exit-codes.ts";
import { removeCached } from "../../../src/cli/indexing/cache.ts";
import { FileTree } from "../../../src/cli/indexing/file-tree.ts";
import { cacheDirectory, configDirectory } from "../../../src/cli/machine/paths.ts";
import {
  commandFiles,
  defaultPager,
  isNoCommand,
  packageCommand,
  pathWithin,
  programFile,
  renameFile,
  shellVariables,
} from "../../../src/cli/machine/platform.ts";
import { answerFrom } from "../../../src/interface/questions/answer.ts";
import type { OpenIndexes, Question } from "../../../src/interface/questions/code-index.ts";

describe("paths of Windows", () => {
  it.each([
    ["C:\\work\\shop", "C:\\work\\shop\\src\\app.ts", "src/app.ts"],
    ["C:\\work\\shop", "c:\\Work\\Shop\\src\\app.ts", "src/app.ts"],
    ["C:\\work\\shop", "C:/work/shop/src/app.ts", "src/app.ts"],
    ["C:\\work\\shop", "C:\\work\\shop", ""],
    ["C:\\work\\shop", "C:\\work\\shop-2\\app.ts", undefined],
    ["C:\\work\\shop", "C:\\work\\shop\\..\\app.ts", undefined],
    ["C:\\work\\shop", "C:\\work\\shop\\..app.ts", "..app.ts"],
    ["C:\\work\\shop", "D:\\work\\shop\\app.ts", undefined],
    ["\\\\server\\share\\shop", "\\\\server\\share\\shop\\a.ts", "a.ts"],
    ["\\\\server\\share\\shop", "\\\\server\\other\\shop\\a.ts", undefined],
  ])("in %s, %s is %s", (folder, file, expected) => {
    expect(pathWithin(folder, file, path.win32)).toBe(expected);
  });

  it("are understood in questions about a work tree there, in any case and with either separator", async () => {
    const echo = { name: "echo", parameters: {}, answer: async (_: unknown, request: object) => ({ request }) };
    const asked = async (root: string, request: object): Promise<object> => {
      const indexes = { indexes: [], root, digest: async () => "" } as Partial<OpenIndexes> as OpenIndexes;
      const question = echo as unknown as Question<Record<string, never>, { request: object }>;
      return (await answerFrom(indexes, question, request as never)).request;
    };
    const root = "C:/work/shop";
    for (const given of ["C:\\work\\shop\\src\\app.ts", "c:/Work/shop/src/app.ts", "src\\app.ts", ".\\src\\app.ts"])
      expect(await asked(root, { path: given })).toEqual({ path: "src/app.ts" });
    expect(await asked(root, { path: "D:\\work\\shop\\src\\app.ts" })).toEqual({ path: "D:/work/shop/src/app.ts" });
    expect(await asked(root, { paths: ["!C:\\work\\shop\\src\\**", "a\\*b"] })).toEqual({
      paths: ["!/src/**", "a\\*b"],
    });
    // Elsewhere it is a character of the name.
    expect(await asked("/work/shop", { path: "src\\app.ts" })).toEqual({ path: "src\\app.ts" });
  });

  it("of the cache and the configuration are those of the user's profile, unless XDG variables name others", () => {
    const profile = "C:\\Users\\ada";
    const env = { USERPROFILE: profile, HOME: "/c/Users/ada", LOCALAPPDATA: "D:\\Local", APPDATA: "D:\\Roaming" };
    expect(cacheDirectory(env, "win32")).toBe(path.join("D:\\Local", "codectx"));
    expect(configDirectory(env, "win32")).toBe(path.join("D:\\Roaming", "codectx"));
    expect(cacheDirectory({ USERPROFILE: profile }, "win32")).toBe(path.join(`${profile}\\AppData\\Local`, "codectx"));
    expect(cacheDirectory({ ...env, XDG_CACHE_HOME: "E:\\cache" }, "win32")).toBe(path.join("E:\\cache", "codectx"));
    expect(cacheDirectory({ ...env, XDG_CACHE_HOME: "cache" }, "win32")).toBe(path.join("D:\\Local", "codectx"));
    expect(cacheDirectory({ HOME: "/Users/ada" }, "darwin")).toBe("/Users/ada/.cache/codectx");
  });
});

describe("renaming a file that another program has open", () => {
  const inUse = (code: string, times: number) => {
    let calls = 0;
    const rename = (): void => {
      if (++calls <= times) throw Object.assign(new Error(`${code}: in use`), { code });
    };
    return { rename, calls: () => calls };
  };

  it("is tried again on Windows, eight times in all", () => {
    const shortly = inUse("EPERM", 3);
    renameFile("a", "b", shortly.rename, "win32");
    expect(shortly.calls()).toBe(4);
    const longer = inUse("EBUSY", 99);
    expect(() => renameFile("a", "b", longer.rename, "win32")).toThrow("EBUSY");
    expect(longer.calls()).toBe(8);
  });

  it("is not tried again elsewhere, or after another error", () => {
    for (const [code, platform] of [
      ["EPERM", "linux"],
      ["ENOENT", "win32"],
    ] as const) {
      const failing = inUse(code, 99);
      expect(() => renameFile("a", "b", failing.rename, platform)).toThrow(code);
      expect(failing.calls()).toBe(1);
    }
  });
});

it("starts commands of packages as each system can", () => {
  expect(packageCommand("codectx", ["mcp"], "win32")).toEqual({ command: "cmd", args: ["/c", "codectx", "mcp"] });
  expect(packageCommand("codectx", ["mcp"], "darwin")).toEqual({ command: "codectx", args: ["mcp"] });
  expect([commandFiles("codectx", "win32"), commandFiles("codectx", "linux")]).toEqual([["codectx.cmd"], ["codectx"]]);
});

describe("programs on Windows", () => {
  it("are those of PATH, not those of the current folder, which may be a hostile checkout", () => {
    const there = new Set(["C:\\Program Files\\Git\\cmd\\git.exe", "git.exe", ".\\git.exe", "\\tools\\git.exe"]);
    const find = (folders: string) => programFile("git", folders, "win32", (file) => there.has(file));
    const folders = '.;;\\tools;tools;C:\\Windows;"C:\\Program Files\\Git\\cmd"';
    expect(find(folders)).toBe("C:\\Program Files\\Git\\cmd\\git.exe");
    expect(find(".;;\\tools;C:\\Windows")).toBeUndefined();
    expect(programFile("git", undefined, "win32", () => true)).toBeUndefined();
    expect(programFile("git", "/usr/bin", "linux", () => false)).toBe("git");
  });

  it("are not taken from the current folder by a shell either", () => {
    expect(shellVariables("win32")).toEqual({ NoDefaultCurrentDirectoryInExePath: "1" });
    expect(shellVariables("linux")).toEqual({});
  });

  it("include no pager, and a command that is missing fails as any other", () => {
    expect([defaultPager("win32"), defaultPager("linux")]).toEqual(["", "less"]);
    expect([isNoCommand(1, "win32"), isNoCommand(0, "win32")]).toEqual([true, false]);
    expect([isNoCommand(127, "linux"), isNoCommand(1, "linux"), isNoCommand(0, "linux")]).toEqual([true, false, false]);
  });
});

describe("files on Windows", () => {
  const newFolder = (): string => {
    const folder = mkdtempSync(path.join(tmpdir(), "code-context-platform-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    return folder;
  };

  it("are removed with their index although its lock is open meanwhile", async () => {
    const directory = path.join(newFolder(), "index");
    mkdirSync(directory);
    writeFileSync(path.join(directory, "index.sqlite"), "");
    let isReleased = false;
    const remove = ((file: string, options: object) => {
      if (file === directory && !isReleased) {
        isReleased = true;
        throw Object.assign(new Error("EBUSY: resource busy or locked"), { code: "EBUSY" });
      }
      rmSync(file, options);
    }) as typeof rmSync;
    await removeCached(directory, remove);
    expect(existsSync(directory)).toBe(false);
  });

  it("are not read through links where no flag of the system refuses them", () => {
    const root = newFolder();
    writeFileSync(path.join(root, "a.ts"), "a");
    symlinkSync(path.join(root, "a.ts"), path.join(root, "link.ts"));
    const tree = new FileTree(root, 0);
    expect([tree.read("a.ts")?.length, tree.read("link.ts")]).toEqual([1, undefined]);
  });

  it("that another program has open are reported as such", () => {
    const busy = Object.assign(new Error("EBUSY: resource busy or locked"), { code: "EBUSY", path: "C:\\a" });
    expect(toCliError(busy)).toMatchObject({ exit: 9, message: "another program has the file open: C:\\a" });
  });
});

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { CLIENTS } from "../../src/cli/commands/setup-clients.ts";
import { addEntry, removeEntry, type Wanted } from "../../src/cli/commands/setup-edit.ts";
import { forgetChange, originalText, rememberChange } from "../../src/cli/commands/setup-undo.ts";
import { settingsFolder } from "../../src/cli/machine/paths.ts";

const entry = { command: "codectx", args: ["mcp"] };
const json: Wanted = {
  file: "mcp.json",
  property: "mcpServers",
  entry,
  input: undefined,
  isSame: (found) => JSON.stringify(found) === JSON.stringify(entry),
};
const toml: Wanted = { ...json, file: "config.toml", property: undefined };

describe("settings of clients", () => {
  it("keeps comments, indentation, line ends, a trailing comma and a byte order mark", () => {
    const before = '\uFEFF{\r\n\t// mine\r\n\t"mcpServers": {\r\n\t\t"a": { "command": "a" }, // last\r\n\t},\r\n}\r\n';
    const after = addEntry(before, json)?.after ?? "";
    expect(after.startsWith("\uFEFF{\r\n\t// mine\r\n")).toBe(true);
    expect(after).toContain("// last");
    expect(after.replaceAll("\r\n", "")).not.toContain("\n");
    expect(after).toContain('\r\n\t\t"codectx": {');
    expect(addEntry(after, json)).toBeUndefined();
  });

  it("refuses what it cannot read, with the line, and changes nothing that has another type", () => {
    expect(() => addEntry('{\n"a": [}', json)).toThrow(/line 2/);
    expect(() => addEntry("[]", json)).toThrow(/no JSON object/);
    expect(() => addEntry('{"mcpServers": []}', json)).toThrow(/"mcpServers" is not an object/);
    expect(() => addEntry("[a\n", toml)).toThrow(/not valid TOML/);
    expect(() => addEntry('mcp_servers = { a = { command = "a" } }\n', toml)).toThrow(/add this by hand/);
    expect(() => addEntry('[mcp_servers.codectx]\ncommand = "evil"\n', toml)).toThrow(/another entry/);
    expect(() => addEntry(`${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`, json)).toThrow(/nested too deeply/);
  });

  it("removes the entry alone where something else changed since", () => {
    const written = addEntry('{ "theme": "dark" }', json)?.after ?? "";
    const changed = written.replace("dark", "light");
    expect(JSON.parse(removeEntry(changed, json) ?? "")).toEqual({ theme: "light", mcpServers: {} });
    expect(removeEntry('{ "theme": "dark" }', json)).toBeUndefined();
    const table = addEntry('model = "o"\n', toml)?.after ?? "";
    expect(removeEntry(`${table}\n[later]\na = 1\n`, toml)).toBe('model = "o"\n\n[later]\na = 1\n');
    expect(() => removeEntry(`${table}\n[mcp_servers.codectx.env]\nA = "1"\n`, toml)).toThrow(/more than one table/);
  });

  it("brings back every text byte for byte, after one setup or two", () => {
    const folder = mkdtempSync(path.join(tmpdir(), "code-context-setup-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const env = { XDG_CONFIG_HOME: folder };
    const settings = fc
      .tuple(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(undefined, 1, 2, "\t"), fc.boolean())
      .map(
        ([value, indent, ends]) => JSON.stringify({ ...value, mcpServers: {} }, undefined, indent) + (ends ? "\n" : ""),
      );
    fc.assert(
      fc.property(fc.option(settings, { nil: undefined }), (before) => {
        const first = addEntry(before, json)?.after ?? "";
        rememberChange(env, { file: "a", before, after: first, folders: [] });
        const other = { ...json, entry: { url: "https://api.example.com/mcp" }, isSame: () => false };
        const second = addEntry(first, other)?.after ?? "";
        rememberChange(env, { file: "a", before: first, after: second, folders: [] });
        expect(originalText(env, "a", first)).toBeUndefined();
        expect(originalText(env, "a", second)).toEqual({ text: before });
        forgetChange(env, "a");
        expect(originalText(env, "a", second)).toBeUndefined();
      }),
      { numRuns: 50 },
    );
  });

  it("adds every client's entry once to files of every form, keeps comments, and brings the bytes back", () => {
    const folder = mkdtempSync(path.join(tmpdir(), "code-context-setup-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const env = { XDG_CONFIG_HOME: folder };
    const jsonForms = (property: string) => [
      undefined,
      "",
      "{}",
      "\uFEFF{}\r\n",
      `// mine\n{\n  // theirs\n  "${property}": { "a": { "command": "a" } /* last */, },\n}\n\n`,
      `\uFEFF{\r\n\t"other": [1, 2], // mine\r\n\t"${property}": {}\r\n}`,
      `{"${property}":{"a":{"command":"a"}},"other":{"codectx":1}}`,
    ];
    const tomlForms = [
      undefined,
      "",
      "# mine\r\nmodel = 'o' # theirs\r\n\r\n[other]\r\nmcp_servers = 1\r\n",
      '\uFEFFmodel = "o"',
      '[mcp_servers.a] # mine\ncommand = "a"\n\n\n',
      '[mcp_servers]\n\n[mcp_servers.a]\nenv = { A = "1" } # inline\n[later]\n',
    ];
    const servers = [entry, { url: "https://a.example/mcp", keyVariable: "KEY" }, { url: "https://a.example/mcp" }];
    let count = 0;
    for (const [name, { property, entry: entryOf, input }] of Object.entries(CLIENTS))
      for (const server of servers)
        for (const before of property === undefined ? tomlForms : jsonForms(property)) {
          const own = entryOf(server, true);
          if (own === undefined) continue;
          const isSame = (found: unknown) => isDeepStrictEqual({ ...(found as object) }, own);
          const wanted: Wanted = { file: name, property, entry: own, input: input?.(server), isSame };
          const after = addEntry(before, wanted)?.after ?? "";
          const what = `${name} ${JSON.stringify(server)} ${JSON.stringify(before)}`;
          expect(after, what).toContain("codectx");
          for (const [comment] of before?.matchAll(/(?:# ?|\/\/ |\/\* )(?:mine|theirs|last|inline)/g) ?? [])
            expect(after, what).toContain(comment);
          if (before?.includes("\r\n")) expect(after.replaceAll("\r\n", ""), what).not.toContain("\n");
          expect(addEntry(after, wanted), what).toBeUndefined();
          rememberChange(env, { file: name, before, after, folders: [] });
          expect(originalText(env, name, after), what).toEqual({ text: before });
          expect(addEntry(removeEntry(after, wanted) ?? "", wanted)?.after, what).toBeDefined();
          count++;
        }
    expect(count).toBeGreaterThan(150);
    for (const inline of ["mcp_servers = {}\n", 'mcp_servers = { a = { command = "a" } } # mine\r\n'])
      expect(() => addEntry(inline, toml)).toThrow(/add this by hand/);
  });

  it("has a place and a local entry for each client, on every platform", () => {
    for (const [name, client] of Object.entries(CLIENTS)) {
      expect(client.project ?? client.user, name).toBeDefined();
      expect(client.entry(entry, true), name).toBeDefined();
      const remote = client.entry({ url: "https://app.example.com/mcp" }, true);
      expect(remote ?? client.otherwise, name).toBeDefined();
    }
    const env = { HOME: "/home/a", APPDATA: "C:\\Users\\a\\AppData\\Roaming" };
    expect(settingsFolder(env, "application-data", "darwin")).toBe("/home/a/Library/Application Support");
    expect(settingsFolder(env, "application-data", "win32")).toBe(env.APPDATA);
    expect(settingsFolder(env, "config", "linux")).toBe("/home/a/.config");
    expect(settingsFolder(env, "xdg-config", "linux")).toBe("/home/a/.config");
    expect(settingsFolder({ ...env, USERPROFILE: "/users/a" }, "xdg-config", "win32")).toBe("/users/a/.config");
    expect(settingsFolder({ ...env, XDG_CONFIG_HOME: "/own" }, "xdg-config", "win32")).toBe("/own");
    expect(settingsFolder({ ...env, USERPROFILE: "C:\\Users\\a" }, "home", "win32")).toBe("C:\\Users\\a");
  });
});

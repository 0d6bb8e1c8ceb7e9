import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { PROJECT_ROOT } from "../../../src/tooling/local/project.ts";
import { releaseChangelog, releaseNotes } from "../../../src/tooling/release/changelog.ts";
import { mcpName, packageManifest, packageReadme, serverEntry } from "../../../src/tooling/release/manifest.ts";
import { githubRepository } from "../../../src/tooling/release/repository.ts";
import { pluginFiles } from "../../../src/tooling/release/plugin.ts";
import { compareVersions, versionsInFiles } from "../../../src/tooling/release/version.ts";

function read(file: string): string {
  return readFileSync(path.join(PROJECT_ROOT, file), "utf8");
}

function json(file: string): Record<string, unknown> {
  return JSON.parse(read(file)) as Record<string, unknown>;
}

describe("versions", () => {
  it("are the same wherever one is written", async () => {
    const versions = await versionsInFiles();
    expect(new Set(versions.map(({ version }) => version)).size, JSON.stringify(versions)).toBe(1);
  });

  it("are ordered as semantic versioning does, and refused where they are none", () => {
    // The order of semver.org, rule 11.
    const ordered = ["1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11"];
    ordered.push("1.0.0-rc.1", "1.0.0", "1.0.1", "1.2.0", "1.10.0", "2.0.0");
    for (const [i, a] of ordered.entries()) {
      for (const [j, b] of ordered.entries())
        expect(Math.sign(compareVersions(a, b)), `${a} ${b}`).toBe(Math.sign(i - j));
    }
    for (const wrong of ["1.0", "v1.0.0", "1.0.0+build", "latest", ""]) {
      expect(() => compareVersions(wrong, "1.0.0")).toThrow("is not a version such as 1.2.3");
    }
  });
});

describe("the lock file", () => {
  it("pins the content of every package, those of other platforms too", () => {
    const { packages } = json("package-lock.json") as { packages: Record<string, { integrity?: string }> };
    const unpinned = Object.entries(packages).filter(([name, entry]) => name !== "" && !entry.integrity);
    expect(unpinned.map(([name]) => name)).toEqual([]);
  });
});

describe("the changelog", () => {
  const release = (text: string, version = "1.2.0") => releaseChangelog(text, version, "2026-11-22");

  it.each(["## Unreleased", "## 1.2.0 — unreleased"])("dates the section %s and returns its text", (heading) => {
    const text = `# Changelog\n\n${heading}\n\n- Search.\n\n## 1.1.0 — 2026-01-01\n\n- Old.\n`;
    expect(release(text)).toEqual({
      text: text.replace(heading, "## 1.2.0 — 2026-11-22"),
      notes: "- Search.",
    });
    expect(releaseNotes(release(text).text, "1.2.0")).toBe("- Search.");
    expect(releaseNotes(text, "1.1.0")).toBe("- Old.");
    expect(() => releaseNotes(text, "1.1")).toThrow("no section for 1.1");
  });

  it("refuses a release without notes, or of another version than the prepared one", () => {
    expect(() => release("# Changelog\n\n## 1.1.0 — 2026-01-01\n")).toThrow("no section");
    expect(() => release("## Unreleased\n\n## 1.1.0 — 2026-01-01\n\n- Old.\n")).toThrow("is empty");
    expect(() => release("## 1.3.0 — unreleased\n\n- New.\n")).toThrow("prepares 1.3.0, not 1.2.0");
  });
});

describe("what is published", () => {
  it("names the repository that it is published from", () => {
    expect(githubRepository({ GITHUB_REPOSITORY: "acme/code-context" })).toBe("acme/code-context");
    expect(packageManifest("acme/code-context")).toMatchObject({
      repository: { type: "git", url: "git+https://github.com/acme/code-context.git" },
      mcpName: "io.github.acme/codectx",
    });
    expect(packageManifest(undefined)).not.toHaveProperty("repository");
  });

  it("has an entry for the MCP registry that the registry takes", () => {
    const { version } = json("package.json");
    const entry = serverEntry("acme/code-context");
    // Rules of the schema of 2025-12-11, and the registry's own: exact versions, and `mcpName` in the package.
    expect(entry["name"]).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
    expect(entry["name"]).toBe(mcpName("acme/code-context"));
    expect(String(entry["description"]).length).toBeLessThanOrEqual(100);
    expect(entry).toMatchObject({
      version,
      packages: [{ registryType: "npm", version, transport: { type: "stdio" } }],
      remotes: [{ type: "streamable-http", url: "https://{host}/mcp", variables: { host: { isRequired: true } } }],
    });
  });

  it("has a README whose links work outside the repository", async () => {
    expect(await packageReadme("acme/code-context")).toContain(
      "](https://github.com/acme/code-context/blob/main/docs/mcp.md)",
    );
    expect(await packageReadme(undefined)).not.toMatch(/\]\((?!https:|#)/);
  });
});

describe("integrations", () => {
  it("offer a plugin whose files follow from one description", () => {
    for (const [file, text] of Object.entries(pluginFiles())) expect(read(file), file).toBe(text);
    expect(json("integrations/plugin/plugin.json")["name"]).toMatch(/^[a-z0-9][a-z0-9.-]{0,62}[a-z0-9]$/);
  });

  it("offer a Claude Code plugin whose parts are there", () => {
    const marketplace = json(".claude-plugin/marketplace.json") as {
      name: string;
      plugins: { name: string; source: string }[];
    };
    expect(marketplace).toMatchObject({
      name: expect.stringMatching(/^[a-z0-9-]+$/),
      owner: { name: expect.any(String) },
    });
    for (const { name, source } of marketplace.plugins) {
      const plugin = json(path.join(source, ".claude-plugin/plugin.json"));
      expect(plugin["name"]).toBe(name);
      const servers = json(path.join(source, ".mcp.json"))["mcpServers"];
      const args = ["--yes", `codectx@${String(plugin["version"])}`, "mcp"];
      expect(servers).toEqual({ "code-context": { command: "npx", args } });
      const skill = /^---\nname: ([a-z0-9-]+)\ndescription: ([^\n]{1,1024})\n---\n/.exec(
        read(path.join(source, "skills/search-code/SKILL.md")),
      );
      expect(skill?.[1]).toBe("search-code");
    }
  });

  it("give the API key to codectx ci alone", async () => {
    const steps = read("integrations/github-action/action.yml").split("\n    - ");
    expect(steps.filter((step) => step.includes("inputs.api-key")).map((step) => /run: (.*)/.exec(step)?.[1])).toEqual([
      'codectx ci ${CODECTX_REPO:+--repo "$CODECTX_REPO"}',
    ]);
    // The job of GitLab has it in its environment: its script runs with stand-ins of npm and codectx that tell what they see.
    const [, script = ""] = read("integrations/gitlab/code-context.gitlab-ci.yml").split("  script:\n");
    const lines = script.split("\n").flatMap((line) => /^ {4}- (.*)$/.exec(line)?.[1] ?? []);
    const folder = mkdtempSync(path.join(tmpdir(), "code-context-gitlab-"));
    for (const name of ["npm", "codectx"])
      writeFileSync(path.join(folder, name), `#!/bin/sh\necho "$(basename "$0") $* key=$CODECTX_API_KEY"\n`, {
        mode: 0o755,
      });
    const { stdout } = await promisify(execFile)("sh", ["-ec", lines.join("\n")], {
      env: {
        PATH: `${folder}:${process.env["PATH"]}`,
        CODECTX_PACKAGE: "codectx@1.2.3",
        CODECTX_API_KEY: "secret",
        CI_PROJECT_URL: "https://gitlab.com/acme/web",
      },
    });
    rmSync(folder, { recursive: true });
    expect(stdout.trim().split("\n")).toEqual([
      "npm install --global --ignore-scripts --no-audit --no-fund -- codectx@1.2.3 key=",
      "codectx ci --repo https://gitlab.com/acme/web key=secret",
    ]);
  });

  it("name tools and commands that exist", () => {
    const tools = new Set(
      [...read("src/interface/mcp/tools.ts").matchAll(/name: "([a-z_]+)"/g)].map(([, name]) => name),
    );
    const named = read("integrations/plugin/skills/search-code/SKILL.md").matchAll(/`([a-z]+_[a-z]+)`/g);
    const missing = [...named]
      .map(([, name]) => name ?? "")
      .filter((name) => name !== "max_tokens" && !tools.has(name));
    expect(missing).toEqual([]);
    for (const file of ["integrations/github-action/action.yml", "integrations/gitlab/code-context.gitlab-ci.yml"]) {
      expect(read(file)).toMatch(/^ +(?:- |run: )?codectx ci /m);
    }
  });

  it("build the container from files that are there", () => {
    const listed = read("integrations/container/Containerfile.dockerignore").matchAll(/^!(.+)$/gm);
    for (const [, file] of listed) expect(existsSync(path.join(PROJECT_ROOT, file ?? "")), file).toBe(true);
    const containerfile = read("integrations/container/Containerfile");
    expect(containerfile).toMatch(/^USER node$/m);
    expect(containerfile).toMatch(/^HEALTHCHECK /m);
  });
});

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { gitEnv, WITHOUT_MAINTENANCE } from "./git-env.ts";

export interface GitRepoOptions {
  /** Name below the root; default `repo`. */
  name?: string;
  objectFormat?: "sha1" | "sha256";
  /** Default `main`. */
  branch?: string;
  /** Create it in this folder instead of a new temporary one (to serve several from one backend). */
  root?: string;
}

/** One entry of `git ls-tree -r`. */
export interface ListedFile {
  mode: number;
  type: string;
  oid: string;
  /** Raw bytes of the path, as latin1. */
  rawPath: string;
}

/** A Git repository in a temporary folder, built with the local git. Methods that change files return `this`. */
export class GitRepo implements Disposable {
  /** Serve this folder: the repository is at `/<name>`. */
  readonly root: string;
  readonly name: string;
  /** The work tree. */
  readonly dir: string;
  private readonly ownsRoot: boolean;
  private clock = 1_700_000_000;

  constructor(options: GitRepoOptions = {}) {
    this.ownsRoot = options.root === undefined;
    this.root = options.root ?? mkdtempSync(path.join(tmpdir(), "git-repo-"));
    this.name = options.name ?? "repo";
    this.dir = path.join(this.root, this.name);
    mkdirSync(this.dir, { recursive: true });
    const format = options.objectFormat ?? "sha1";
    // Without the template's sample hooks, fourteen files.
    this.git("init", "-q", "--template=", "-b", options.branch ?? "main", `--object-format=${format}`);
  }

  /** Runs git in the repository with a neutral configuration and fixed identity and dates; returns its output. */
  git(...args: string[]): string {
    return this.run(args).toString().trimEnd();
  }

  /** Like {@link git}, with input and raw output. */
  run(args: readonly string[], input?: string | Uint8Array): Buffer {
    const date = `${this.clock} +0000`;
    return execFileSync("git", [...WITHOUT_MAINTENANCE, ...args], {
      cwd: this.dir,
      input,
      maxBuffer: 1 << 30,
      stdio: ["pipe", "pipe", "pipe"],
      env: gitEnv({
        HOME: this.root,
        GIT_AUTHOR_NAME: "A U Thor",
        GIT_AUTHOR_EMAIL: "author@example.com",
        GIT_AUTHOR_DATE: date,
        GIT_COMMITTER_NAME: "C O Mitter",
        GIT_COMMITTER_EMAIL: "committer@example.com",
        GIT_COMMITTER_DATE: date,
      }),
    });
  }

  /** Writes a file (folders are made). The name may be raw bytes. */
  write(name: string | Buffer, content: string | Uint8Array): this {
    const target = Buffer.concat([Buffer.from(`${this.dir}/`), Buffer.from(name)]);
    mkdirSync(target.subarray(0, target.lastIndexOf(47)), { recursive: true });
    writeFileSync(target, content);
    return this;
  }

  /** Writes many files: name → content. */
  files(files: Readonly<Record<string, string | Uint8Array>>): this {
    for (const [name, content] of Object.entries(files)) this.write(name, content);
    return this;
  }

  executable(name: string, content: string): this {
    this.write(name, content);
    chmodSync(path.join(this.dir, name), 0o755);
    return this;
  }

  symlink(name: string, target: string): this {
    mkdirSync(path.dirname(path.join(this.dir, name)), { recursive: true });
    symlinkSync(target, path.join(this.dir, name));
    return this;
  }

  /** A Git LFS pointer, as if the content were stored elsewhere. */
  lfs(name: string, size = 123_456, sha256 = "a".repeat(64)): this {
    return this.write(name, `version https://git-lfs.github.com/spec/v1\noid sha256:${sha256}\nsize ${size}\n`);
  }

  rename(from: string, to: string): this {
    mkdirSync(path.dirname(path.join(this.dir, to)), { recursive: true });
    renameSync(path.join(this.dir, from), path.join(this.dir, to));
    return this;
  }

  delete(name: string): this {
    rmSync(path.join(this.dir, name), { recursive: true });
    return this;
  }

  /** Records a submodule at a commit id that exists nowhere. Call after the last file change before `commit`. */
  submodule(name: string, commit?: string): this {
    const oid =
      commit ?? "1234567890".repeat(8).slice(0, this.git("rev-parse", "--show-object-format") === "sha256" ? 64 : 40);
    this.git("add", "-A");
    this.git("update-index", "--add", "--cacheinfo", `160000,${oid},${name}`);
    mkdirSync(path.join(this.dir, name), { recursive: true });
    return this;
  }

  /** Commits everything; returns the commit id. */
  commit(message = "change"): string {
    this.clock += 60;
    this.git("add", "-A");
    this.git("commit", "-q", "--allow-empty", "-m", message);
    return this.head();
  }

  /** The commit of a ref, by default of the branch that is checked out. */
  head(ref = "HEAD"): string {
    return (ref === "HEAD" ? this.#looseHead() : undefined) ?? this.git("rev-parse", ref);
  }

  /** What HEAD names, if its branch is a file as after each commit; a process of git takes a hundred times as long as the file. */
  #looseHead(): string | undefined {
    const head = readFileSync(path.join(this.dir, ".git/HEAD"), "utf8").trim();
    if (!head.startsWith("ref: ")) return head;
    const file = path.join(this.dir, ".git", head.slice("ref: ".length));
    return existsSync(file) ? readFileSync(file, "utf8").trim() : undefined;
  }

  branch(name: string, at = "HEAD"): this {
    this.git("branch", "-f", name, at);
    return this;
  }

  checkout(name: string): this {
    this.git("checkout", "-q", name);
    return this;
  }

  /** An annotated tag, or a lightweight one. */
  tag(name: string, at = "HEAD", annotated = true): this {
    this.git(...(annotated ? ["tag", "-a", "-m", `tag ${name}`, name, at] : ["tag", name, at]));
    return this;
  }

  /** Packs all objects with deltas, as hosts do. */
  repack(): this {
    this.git("repack", "-q", "-a", "-d", "-f", "--depth=50", "--window=50");
    return this;
  }

  /** `git ls-tree -r`, every path complete. */
  list(commit = "HEAD"): ListedFile[] {
    const out = this.run(["ls-tree", "-r", "-z", commit]).toString("latin1");
    return out
      .split("\0")
      .filter((line) => line !== "")
      .map((line) => {
        const tab = line.indexOf("\t");
        const [mode = "", type = "", oid = ""] = line.slice(0, tab).split(" ");
        return { mode: Number.parseInt(mode, 8), type, oid, rawPath: line.slice(tab + 1) };
      });
  }

  /** Content of an object. */
  cat(oid: string): Buffer {
    return this.run(["cat-file", "blob", oid]);
  }

  remove(): void {
    if (this.ownsRoot) rmSync(this.root, { recursive: true, force: true });
    else rmSync(this.dir, { recursive: true, force: true });
  }

  [Symbol.dispose](): void {
    this.remove();
  }
}

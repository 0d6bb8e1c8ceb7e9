/** Objects of git, read with `git cat-file`. Each is checked against the id that names it. */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { CliError, EXIT } from "../exit-codes.ts";
import { gitEnvironment, GitCommandError, gitProgram } from "./command.ts";

const SHA1_DIGITS = 40;
/** At the end of an expression for an object: names the tree of a commit. */
export const ROOT_TREE = "^{tree}";
/** An object that makes git stop is passed over by another process; this many are started for the objects of one call. */
const MAX_PROCESSES = 100;

export interface GitObject {
  /** As it was asked for: an id, or an expression for one. */
  name: string;
  oid: string;
  type: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** An object that git does not have, cannot read, or gives in another's place. */
export interface UnreadObject {
  name: string;
  error: CliError;
}

/** The error for what git gives under another name than its own. */
export function gitDamaged(what: string): CliError {
  const text = `${what} is not what its id names: this clone is damaged or was tampered with (see \`git fsck\`)`;
  return new CliError(EXIT.integrity, "GIT_DAMAGED", text);
}

/** Reads blobs in the given order. Throws as {@link readObjects}. */
export async function* readBlobs(
  cwd: string,
  oids: readonly string[],
): AsyncGenerator<{ oid: string; bytes: Uint8Array<ArrayBuffer> }> {
  for await (const object of readObjects(cwd, oids)) {
    if (object.type !== "blob") throw gitDamaged(`object ${object.oid}`);
    yield object;
  }
}

/** As {@link readBlobs}; `bytes` is undefined for one that cannot be read. */
export async function* readIntactBlobs(
  cwd: string,
  oids: readonly string[],
): AsyncGenerator<{ oid: string; bytes: Uint8Array<ArrayBuffer> | undefined }> {
  for await (const object of tryObjects(cwd, oids))
    yield { oid: object.name, bytes: "bytes" in object && object.type === "blob" ? object.bytes : undefined };
}

/** Reads objects in the given order. Throws if git lacks one, and `GIT_DAMAGED` if one is not what its id names. */
export async function* readObjects(cwd: string, names: readonly string[]): AsyncGenerator<GitObject> {
  for await (const object of tryObjects(cwd, names)) {
    if ("error" in object) throw object.error;
    yield object;
  }
}

/** Reads those of the objects that can be read; gives one for each name, in the given order. */
export async function* tryObjects(cwd: string, names: readonly string[]): AsyncGenerator<GitObject | UnreadObject> {
  let done = 0;
  for (let processes = 1; done < names.length && processes <= MAX_PROCESSES; processes++) {
    for await (const object of readUntilStop(cwd, names.slice(done))) {
      done++;
      yield object;
    }
    if (done < names.length) yield unanswered(names[done++] as string);
  }
  for (; done < names.length; done++) yield unanswered(names[done] as string);
}

const unanswered = (name: string): UnreadObject => ({
  name,
  error: new GitCommandError("cat-file", `${name}: no answer`),
});

/** Reads objects with one `git cat-file`. Ends before an object that makes git stop. */
async function* readUntilStop(cwd: string, names: readonly string[]): AsyncGenerator<GitObject | UnreadObject> {
  const { reader, stop } = startCatFile(cwd, "--batch", names);
  try {
    for (const name of names) {
      const header = await reader.line();
      if (header === "") return;
      const [, oid = "", type = "", size] = /^([0-9a-f]+) (commit|tree|blob) (\d+)$/.exec(header) ?? [];
      if (size === undefined) {
        yield { name, error: new GitCommandError("cat-file", `${name}: ${header}`) };
        continue;
      }
      const bytes = await reader.bytes(Number(size));
      if (!bytes || !(await reader.bytes(1))) return;
      const hash = createHash(oid.length === SHA1_DIGITS ? "sha1" : "sha256").update(`${type} ${size}\0`);
      const isNamed = name === oid || name.endsWith(ROOT_TREE);
      const isIntact = isNamed && hash.update(bytes).digest("hex") === oid;
      yield isIntact ? { name, oid, type, bytes } : { name, error: gitDamaged(`object ${oid}`) };
    }
  } finally {
    stop();
  }
}

/** Bytes of the blobs that git has, by id. */
export async function readSizes(cwd: string, oids: readonly string[]): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  if (oids.length === 0) return sizes;
  const { reader, stop } = startCatFile(cwd, "--batch-check", oids);
  try {
    for (let line = await reader.line(); line !== ""; line = await reader.line()) {
      const [, oid, size] = /^([0-9a-f]+) blob (\d+)$/.exec(line) ?? [];
      if (oid !== undefined) sizes.set(oid, Number(size));
    }
  } finally {
    stop();
  }
  return sizes;
}

function startCatFile(cwd: string, mode: string, names: readonly string[]): { reader: ByteReader; stop: () => void } {
  const child = spawn(gitProgram(), ["cat-file", mode, "--buffer"], {
    cwd,
    env: gitEnvironment(),
    stdio: ["pipe", "pipe", "ignore"],
  });
  // A closed pipe, and a git that cannot be started, are seen as a short answer.
  child.on("error", () => undefined);
  child.stdin.on("error", () => undefined);
  child.stdin.end(`${names.join("\n")}\n`);
  return { reader: new ByteReader(child.stdout), stop: () => child.kill() };
}

class ByteReader {
  readonly #source: AsyncIterator<Buffer>;
  #parts: Buffer[] = [];
  #available = 0;

  constructor(stream: AsyncIterable<Buffer>) {
    this.#source = stream[Symbol.asyncIterator]();
  }

  /** The next line; empty at the end. */
  async line(): Promise<string> {
    for (;;) {
      const all = this.#flatten();
      const end = all.indexOf(10);
      if (end !== -1) {
        const line = all.subarray(0, end).toString();
        this.#keep(all.subarray(end + 1));
        return line;
      }
      if (!(await this.#fill())) return all.toString();
    }
  }

  /** Undefined if fewer are left. */
  async bytes(count: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
    while (this.#available < count) if (!(await this.#fill())) return undefined;
    const all = this.#flatten();
    // Copied, because it is transferred to another thread.
    const bytes = new Uint8Array(all.subarray(0, count));
    this.#keep(all.subarray(count));
    return bytes;
  }

  #flatten(): Buffer {
    if (this.#parts.length !== 1) this.#parts = [Buffer.concat(this.#parts)];
    return this.#parts[0] ?? Buffer.alloc(0);
  }

  #keep(rest: Buffer): void {
    this.#parts = [rest];
    this.#available = rest.length;
  }

  async #fill(): Promise<boolean> {
    const next = await this.#source.next();
    if (next.done === true) return false;
    this.#parts.push(next.value);
    this.#available += next.value.length;
    return true;
  }
}

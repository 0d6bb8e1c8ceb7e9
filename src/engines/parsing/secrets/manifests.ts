/** Values of Kubernetes Secrets, in YAML and JSON. */
import { isPassword } from "./passwords.ts";
import type { SecretRange } from "./types.ts";
import { decodeBase64, isSecretValue } from "./values.ts";

function add(found: SecretRange[], start: number, length: number): void {
  found.push({ start, end: start + length, rule: "kubernetes-secret" });
}

/** Values of a Kubernetes Secret, whatever their keys are called. */
export function findKubernetesSecrets(text: string, found: SecretRange[]): void {
  let start = 0;
  for (const document of text.split(/^---/m)) {
    if (/^[ \t]{0,20}(?:- )?["']?kind["']?:[ \t]{0,8}["']?Secret["']?[ \t]{0,8},?\r?$/m.test(document))
      findManifestValues(document, start, found);
    if (/"kind"\s{0,4}:\s{0,4}"Secret"/.test(document)) findJsonValues(document, start, found);
    start += document.length + 3;
  }
}

const MANIFEST_SECTION = /^([ \t]{0,40})(?:- )?["']?(data|stringData)["']?:[ \t]{0,8}\{?[ \t]{0,8}\r?$/;
const MANIFEST_ENTRY = /^([ \t]{1,60})["']?[\w.-]{1,253}["']?:[ \t]{0,8}["']?([^"'\s]{8,16384})["']?[ \t]{0,8},?\r?$/;

function findManifestValues(document: string, start: number, found: SecretRange[]): void {
  let section: { indent: number; encoded: boolean } | undefined;
  let at = start;
  for (const line of document.split("\n")) {
    const opening = MANIFEST_SECTION.exec(line);
    const entry = section === undefined ? null : MANIFEST_ENTRY.exec(line);
    if (opening !== null) section = { indent: opening[1]!.length, encoded: opening[2] === "data" };
    else if (section !== undefined && entry !== null && entry[1]!.length > section.indent) {
      const value = entry[2]!;
      if (section.encoded ? isEncodedSecret(value) : isSecretValue(value, "password"))
        add(found, at + line.indexOf(value, line.indexOf(":")), value.length);
    } else if (line.trim() !== "" && section !== undefined && indentOf(line) <= section.indent) section = undefined;
    at += line.length + 1;
  }
}

const JSON_SECTION = /"(data|stringData)"\s{0,4}:\s{0,4}\{([^{}]{1,20000})\}/g;
const JSON_ENTRY = /"[\w.-]{1,253}"\s{0,4}:\s{0,4}"([^"\s]{8,16384})"/g;

/** The same of a manifest in JSON. */
function findJsonValues(document: string, start: number, found: SecretRange[]): void {
  for (const section of document.matchAll(JSON_SECTION)) {
    const [whole, kind, entries = ""] = section;
    const at = start + section.index + whole.length - 1 - entries.length;
    for (const { 0: entry, 1: value = "", index } of entries.matchAll(JSON_ENTRY))
      if (kind === "data" ? isEncodedSecret(value) : isSecretValue(value, "password"))
        add(found, at + index + entry.length - 1 - value.length, value.length);
  }
}

const indentOf = (line: string): number => line.length - line.trimStart().length;

/** Whether base64 encodes a password, a key block, or binary data. */
function isEncodedSecret(value: string): boolean {
  if (!/^[A-Za-z0-9+/]{8,}={0,2}$/.test(value)) return false;
  const text = Buffer.from(value, "base64").toString("latin1");
  if (text.includes("PRIVATE KEY")) return true;
  if (text.startsWith("-----BEGIN CERTIFICATE")) return false;
  const decoded = decodeBase64(value);
  if (decoded === undefined) return value.length >= 16 && isSecretValue(value, "secret");
  return isPassword(decoded) || /(?:password|token|secret|_key)["']?\s{0,4}[:=]\s{0,4}["']?\S{8}/i.test(decoded);
}

import { GitError, overLimit, protocolError } from "../errors.ts";
import type { GitLimits } from "../limits.ts";
import { isOid, type ObjectFormat } from "../object.ts";
import { remoteFatal } from "../pack/pack-source.ts";
import { type PacketReader, packetText } from "./pkt-line.ts";
import type { Scrub } from "../errors.ts";

export interface AdvertisedRef {
  name: string;
  oid: string;
  /** The fully peeled target of a tag, through any number of nested tags. */
  peeled?: string;
}

/** The server's capabilities and, in protocol v0, all its references. */
export interface Advertisement {
  protocol: 0 | 2;
  objectFormat: ObjectFormat;
  /** As advertised: name and value ("" without one). */
  capabilities: ReadonlyMap<string, string>;
  /** v0 only. */
  refs: AdvertisedRef[];
  /** v0 only: target of the symbolic HEAD. */
  head: string | undefined;
}

/** Throws the error of an `ERR` packet. */
export function throwIfError(text: string, scrub: Scrub): void {
  if (text.startsWith("ERR ")) throw remoteFatal(scrub(text.slice(4)), scrub(text.slice(4)));
}

/** Iterates over the text packets up to the next flush; delimiters end it too. */
export async function* textPackets(packets: PacketReader, limits: GitLimits, scrub: Scrub): AsyncGenerator<string> {
  let bytes = 0;
  for (;;) {
    const packet = await packets.read();
    if (packet.kind === "eof") throw packets.cutOff("before the end of the list");
    if (packet.kind !== "data") return;
    bytes += packet.data.length;
    if (bytes > limits.textBytes) throw overLimit(`more than ${limits.textBytes} bytes of references`);
    const text = packetText(packet.data);
    throwIfError(text, scrub);
    yield text;
  }
}

/** Parses the answer to `GET info/refs`, of protocol v2 or v0/v1. */
export async function readAdvertisement(
  packets: PacketReader,
  limits: GitLimits,
  scrub: Scrub,
): Promise<Advertisement> {
  let first = await packets.read();
  if (first.kind === "eof") throw emptyAnswer();
  if (first.kind === "data" && packetText(first.data).startsWith("# service=")) {
    const flush = await packets.read();
    if (flush.kind !== "flush") throw protocolError("malformed reference advertisement");
    first = await packets.read();
  }
  if (first.kind === "flush") {
    return { protocol: 0, objectFormat: "sha1", capabilities: new Map(), refs: [], head: undefined };
  }
  if (first.kind !== "data") throw protocolError("malformed reference advertisement");
  let line: string | undefined = packetText(first.data);
  throwIfError(line, scrub);
  const rest = textPackets(packets, limits, scrub);
  if (line === "version 2") {
    const capabilities = new Map<string, string>();
    for await (const text of rest) addCapability(capabilities, text);
    return { protocol: 2, objectFormat: formatOf(capabilities), capabilities, refs: [], head: undefined };
  }
  if (line === "version 1") {
    const next = await rest.next();
    line = next.done === true ? undefined : next.value;
  }
  return readV0(line, rest, limits);
}

async function readV0(
  first: string | undefined,
  rest: AsyncGenerator<string>,
  limits: GitLimits,
): Promise<Advertisement> {
  const capabilities = new Map<string, string>();
  const refs: AdvertisedRef[] = [];
  const [firstRef = "", features = ""] = (first ?? "").split("\0");
  let head: string | undefined;
  for (const feature of features.split(" ")) {
    if (feature.startsWith("symref=HEAD:")) head = feature.slice("symref=HEAD:".length);
    else if (feature !== "") addCapability(capabilities, feature);
  }
  const objectFormat = formatOf(capabilities);
  const add = (text: string): void => {
    const space = text.indexOf(" ");
    const oid = text.slice(0, space);
    const name = text.slice(space + 1);
    if (text.startsWith("shallow ")) return;
    if (!isOid(objectFormat, oid)) throw protocolError("malformed reference advertisement");
    const last = refs.at(-1);
    if (name === "capabilities^{}") return;
    if (last !== undefined && name === `${last.name}^{}`) last.peeled = oid;
    else refs.push({ name, oid });
    if (refs.length > limits.refs) throw overLimit(`more than ${limits.refs} references`);
  };
  if (firstRef !== "") add(firstRef);
  for await (const text of rest) add(text);
  return { protocol: 0, objectFormat, capabilities, refs, head };
}

function addCapability(into: Map<string, string>, text: string): void {
  const equals = text.indexOf("=");
  if (equals < 0) into.set(text, "");
  else into.set(text.slice(0, equals), text.slice(equals + 1));
}

function formatOf(capabilities: ReadonlyMap<string, string>): ObjectFormat {
  const format = capabilities.get("object-format") ?? "sha1";
  if (format !== "sha1" && format !== "sha256") throw protocolError(`unknown object format ${JSON.stringify(format)}`);
  return format;
}

/** HTTP 200 without a body: the server process died before it could report an error. */
export function emptyAnswer(): GitError {
  return new GitError("PROTOCOL", "the server sent an empty response body");
}

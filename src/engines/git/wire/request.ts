import type { Advertisement } from "./advertisement.ts";
import { emptyAnswer, textPackets, throwIfError } from "./advertisement.ts";
import { GitError, protocolError, type Scrub } from "../errors.ts";
import type { HttpTransport } from "./http.ts";
import { PackSource } from "../pack/pack-source.ts";
import { DELIM, FLUSH, type Packet, PacketReader, packetText, pkt } from "./pkt-line.ts";
import type { Operation } from "../operation.ts";

/** One request for a pack. */
export interface PackRequest {
  wants: readonly string[];
  /** Fetch only the wanted commits, not their history. */
  shallow: boolean;
  /** Partial-clone filter; set only if the server supports it. */
  filter?: string | undefined;
  /** Send only what this commit's trees lack, as a thin pack. */
  have?: string | undefined;
}

interface OpenPack {
  source: PackSource;
  packets: PacketReader;
}

const AGENT = "agent=code-context";

/** The body of a v2 `ls-refs`. */
export function lsRefsBody(advertisement: Advertisement, prefixes: readonly string[]): string {
  const { capabilities, objectFormat } = advertisement;
  let body = pkt("command=ls-refs\n") + v2Head(capabilities, objectFormat) + DELIM + pkt("peel\n") + pkt("symrefs\n");
  if (capabilities.get("ls-refs")?.split(" ").includes("unborn") === true) body += pkt("unborn\n");
  for (const prefix of prefixes) body += pkt(`ref-prefix ${prefix}\n`);
  return body + FLUSH;
}

function v2Head(capabilities: ReadonlyMap<string, string>, objectFormat: string): string {
  const agent = capabilities.has("agent") ? pkt(`${AGENT}\n`) : "";
  return agent + (capabilities.has("object-format") ? pkt(`object-format=${objectFormat}\n`) : "");
}

function v2Body(advertisement: Advertisement, request: PackRequest): string {
  const { capabilities, objectFormat } = advertisement;
  let body = pkt("command=fetch\n") + v2Head(capabilities, objectFormat) + DELIM;
  if (request.have !== undefined) body += pkt("thin-pack\n");
  body += pkt("no-progress\n") + pkt("ofs-delta\n");
  if (request.have !== undefined && request.shallow) body += pkt(`shallow ${request.have}\n`);
  if (request.shallow) body += pkt("deepen 1\n");
  if (request.filter !== undefined) body += pkt(`filter ${request.filter}\n`);
  body += request.wants.map((oid) => pkt(`want ${oid}\n`)).join("");
  if (request.have !== undefined) body += pkt(`have ${request.have}\n`);
  return body + pkt("done\n") + FLUSH;
}

function v0Body(advertisement: Advertisement, request: PackRequest, sideBand: string | undefined): string {
  const { capabilities, objectFormat } = advertisement;
  const features = ["no-progress", "ofs-delta"].filter((name) => capabilities.has(name));
  if (sideBand !== undefined) features.push(sideBand);
  if (request.have !== undefined && capabilities.has("thin-pack")) features.push("thin-pack");
  if (request.filter !== undefined) features.push("filter");
  if (capabilities.has("object-format")) features.push(`object-format=${objectFormat}`);
  if (capabilities.has("agent")) features.push(AGENT);
  let body = request.wants
    .map((oid, i) => pkt(i === 0 ? `want ${oid} ${features.join(" ")}\n` : `want ${oid}\n`))
    .join("");
  if (request.have !== undefined && request.shallow) body += pkt(`shallow ${request.have}\n`);
  if (request.shallow) body += pkt("deepen 1\n");
  if (request.filter !== undefined) body += pkt(`filter ${request.filter}\n`);
  body += FLUSH;
  if (request.have !== undefined) body += pkt(`have ${request.have}\n`);
  return body + pkt("done\n");
}

/** Sends the request and reads the response up to the first byte of the pack. The caller cancels `packets`. */
export async function openPack(
  transport: HttpTransport,
  operation: Operation,
  advertisement: Advertisement,
  request: PackRequest,
): Promise<OpenPack> {
  const { scrub, limits } = transport;
  const { protocol, capabilities, objectFormat } = advertisement;
  const sideBand =
    protocol === 2 ? "side-band-64k" : ["side-band-64k", "side-band"].find((name) => capabilities.has(name));
  const body = protocol === 2 ? v2Body(advertisement, request) : v0Body(advertisement, request, sideBand);
  const packets = new PacketReader(await transport.post(operation, body));
  try {
    if (protocol === 2) await skipToPackV2(packets, scrub);
    else {
      if (request.shallow) for await (const line of textPackets(packets, limits, scrub)) expectShallow(line);
      await skipAcknowledgement(packets, scrub);
    }
  } catch (error) {
    packets.cancel();
    throw error;
  }
  const source = new PackSource(packets, sideBand !== undefined, objectFormat, scrub, limits.inputBufferBytes);
  return { source, packets };
}

function expectShallow(line: string): void {
  if (!line.startsWith("shallow ") && !line.startsWith("unshallow ")) {
    throw protocolError(`unexpected line before the pack: ${JSON.stringify(line.slice(0, 200))}`);
  }
}

/** Reads the sections of a v2 fetch response up to `packfile`. */
async function skipToPackV2(packets: PacketReader, scrub: Scrub): Promise<void> {
  let seen = false;
  for (let lines = 0; lines < 1_000_000; lines++) {
    const packet: Packet = await packets.read();
    if (packet.kind === "eof") throw seen ? packets.cutOff("before the pack") : emptyAnswer();
    seen = true;
    if (packet.kind === "flush") throw protocolError("the server sent no pack");
    if (packet.kind !== "data") continue;
    const text = packetText(packet.data);
    throwIfError(text, scrub);
    if (text === "packfile") return;
  }
  throw protocolError("the server sent no pack");
}

/** Reads the ACK or NAK that precedes a v0 pack. */
async function skipAcknowledgement(packets: PacketReader, scrub: Scrub): Promise<void> {
  const packet = await packets.read();
  if (packet.kind === "eof") throw emptyAnswer();
  if (packet.kind !== "data") throw new GitError("PROTOCOL", "the server sent no acknowledgement");
  const text = packetText(packet.data);
  throwIfError(text, scrub);
  if (text !== "NAK" && !text.startsWith("ACK ")) {
    throw protocolError(`unexpected acknowledgement: ${JSON.stringify(text.slice(0, 200))}`);
  }
}

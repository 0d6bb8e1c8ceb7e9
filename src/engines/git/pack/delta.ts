import { corrupt } from "../errors.ts";

/** Sizes at the head of a delta, and where its instructions start. */
export interface DeltaHeader {
  baseSize: number;
  resultSize: number;
  pos: number;
}

/** Reads the two sizes of `delta[0, end)`. @throws GitError CORRUPT */
export function readDeltaHeader(delta: Uint8Array, end: number): DeltaHeader {
  let pos = 0;
  const size = (): number => {
    let value = 0;
    let scale = 1;
    for (;;) {
      if (pos >= end || scale > 2 ** 49) throw corrupt("bad delta header");
      const byte = delta[pos++]!;
      value += (byte & 127) * scale;
      scale *= 128;
      if (byte < 128) return value;
    }
  };
  const baseSize = size();
  const resultSize = size();
  return { baseSize, resultSize, pos };
}

const SHORT_COPY_BYTES = 48;

/**
 * Applies the instructions of `delta[header.pos, deltaEnd)` to the base at `base[baseStart, + header.baseSize)`,
 * writing exactly `header.resultSize` bytes to `out[outStart…]`. Base and result may share a buffer, not bytes.
 * @throws GitError CORRUPT
 */
export function applyDelta(
  header: DeltaHeader,
  delta: Uint8Array,
  deltaEnd: number,
  base: Uint8Array,
  baseStart: number,
  out: Uint8Array,
  outStart: number,
): void {
  const { baseSize } = header;
  const outEnd = outStart + header.resultSize;
  const shared = base === out;
  let p = header.pos;
  let o = outStart;
  while (p < deltaEnd) {
    const op = delta[p++]!;
    if (op >= 128) {
      let offset = 0;
      let length = 0;
      if ((op & 1) !== 0) offset = delta[p++]!;
      if ((op & 2) !== 0) offset |= delta[p++]! << 8;
      if ((op & 4) !== 0) offset |= delta[p++]! << 16;
      if ((op & 8) !== 0) offset += delta[p++]! * 0x1000000;
      if ((op & 16) !== 0) length = delta[p++]!;
      if ((op & 32) !== 0) length |= delta[p++]! << 8;
      if ((op & 64) !== 0) length |= delta[p++]! << 16;
      if (length === 0) length = 0x10000;
      if (p > deltaEnd || offset + length > baseSize || o + length > outEnd) throw corrupt("bad delta copy");
      let from = baseStart + offset;
      if (length <= SHORT_COPY_BYTES) {
        for (const end = o + length; o < end;) out[o++] = base[from++]!;
      } else {
        if (shared) out.copyWithin(o, from, from + length);
        else out.set(base.subarray(from, from + length), o);
        o += length;
      }
    } else if (op !== 0) {
      if (p + op > deltaEnd || o + op > outEnd) throw corrupt("bad delta insert");
      if (op <= SHORT_COPY_BYTES) for (const end = o + op; o < end;) out[o++] = delta[p++]!;
      else {
        out.set(delta.subarray(p, p + op), o);
        o += op;
        p += op;
      }
    } else throw corrupt("reserved delta instruction");
  }
  if (o !== outEnd) throw corrupt("delta result has the wrong size");
}

import { InvalidArrow } from './flatbuffer-reader.ts';

const frameMagic = 0x184d_2204;
const lowestMatch = 4;

/**
 * Unpacks an LZ4 frame that fills `target` exactly. Its checksums, which Arrow's writers leave out, are not checked. Written here
 * because the npm packages for it are unmaintained or native.
 */
export function unpackLz4Frame(packed: Uint8Array, target: Uint8Array): void {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  if (packed.length < 7 || view.getUint32(0, true) !== frameMagic) throw damaged();
  const flags = view.getUint8(4);
  if (flags >> 6 !== 1) throw damaged();
  const hasBlockChecksums = (flags & 0x10) !== 0;
  let at = 7 + ((flags & 0x08) === 0 ? 0 : 8) + ((flags & 0x01) === 0 ? 0 : 4);
  let filled = 0;
  for (;;) {
    if (at + 4 > packed.length) throw damaged();
    const size = view.getUint32(at, true);
    at += 4;
    if (size === 0) break;
    const bytes = size & 0x7fff_ffff;
    if (at + bytes > packed.length) throw damaged();
    const block = packed.subarray(at, at + bytes);
    if (size >>> 31 === 0) {
      filled = unpackBlock(block, target, filled);
    } else {
      if (filled + bytes > target.length) throw damaged();
      target.set(block, filled);
      filled += bytes;
    }
    at += bytes + (hasBlockChecksums ? 4 : 0);
  }
  if (filled !== target.length) throw damaged();
}

/** Returns the end of the block in `target`. Its matches may be in blocks before it. */
function unpackBlock(block: Uint8Array, target: Uint8Array, start: number): number {
  const { length } = block;
  let at = 0;
  let to = start;
  while (at < length) {
    const token = block[at++] as number;
    let literals = token >> 4;
    if (literals === 15) {
      let more: number;
      do {
        if (at >= length) throw damaged();
        more = block[at++] as number;
        literals += more;
      } while (more === 255);
    }
    if (at + literals > length || to + literals > target.length) throw damaged();
    for (const end = at + literals; at < end; ) target[to++] = block[at++] as number;
    // The last sequence of a block is literals alone.
    if (at === length) return to;
    if (at + 2 > length) throw damaged();
    const distance = (block[at] as number) | ((block[at + 1] as number) << 8);
    at += 2;
    let repeated = (token & 15) + lowestMatch;
    if ((token & 15) === 15) {
      let more: number;
      do {
        if (at >= length) throw damaged();
        more = block[at++] as number;
        repeated += more;
      } while (more === 255);
    }
    if (distance === 0 || distance > to || to + repeated > target.length) throw damaged();
    if (distance >= repeated && repeated > 32) {
      target.copyWithin(to, to - distance, to - distance + repeated);
      to += repeated;
    } else {
      for (const end = to + repeated; to < end; to++) target[to] = target[to - distance] as number;
    }
  }
  throw damaged();
}

function damaged(): InvalidArrow {
  return new InvalidArrow('a buffer is damaged: its LZ4 cannot be unpacked');
}

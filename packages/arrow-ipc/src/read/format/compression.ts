import * as zlib from 'node:zlib';
import { Decompress, decompress } from 'fzstd';
import { type FlatbufferTable, InvalidArrow } from './flatbuffer-reader.ts';
import { unpackLz4Frame } from './lz4-frame.ts';
import type { UnfoldBudget } from './unfold-budget.ts';

/** Node 20 has none. */
const { zstdDecompressSync } = zlib as {
  zstdDecompressSync?: (packed: Uint8Array, options: { readonly maxOutputLength: number }) => Uint8Array;
};

/** Buffers of a record batch as pairs of offset and length, and the bytes that they point into. */
export interface BatchBody {
  readonly body: Uint8Array;
  readonly buffers: [number, number][];
}

const lengthBytes = 8;
/** In place of a length, where a buffer would not have become smaller. */
const isNotPacked = -1;

/** The body of a record batch, decompressed: pyarrow.feather compresses by default. */
export function unpackedBody(
  compression: FlatbufferTable,
  { body, buffers }: BatchBody,
  budget: UnfoldBudget,
): BatchBody {
  const unpack = codecOf(compression);
  const sources = buffers.map(([offset, bytes]) => {
    if (bytes === 0) return { packed: body.subarray(0, 0), length: 0, isPlain: true };
    if (offset < 0 || bytes < lengthBytes || offset + bytes > body.length) {
      throw new InvalidArrow('a compressed buffer is outside of its body');
    }
    const packed = body.subarray(offset + lengthBytes, offset + bytes);
    const length = Number(new DataView(body.buffer, body.byteOffset + offset).getBigInt64(0, true));
    if (length === isNotPacked) return { packed, length: packed.length, isPlain: true };
    if (length < 0) throw new InvalidArrow(`a compressed buffer claims ${length} bytes`);
    return { packed, length, isPlain: false };
  });
  const total = sources.reduce((sum, { length }) => sum + aligned(length), 0);
  budget.take(total, 'unpacks to');
  // Zeroed: fzstd does not report the filled bytes of its target, and older content belongs to another caller.
  const unpacked = Buffer.alloc(total);
  let at = 0;
  const places = sources.map(({ packed, length, isPlain }): [number, number] => {
    const target = unpacked.subarray(at, at + length);
    if (isPlain) target.set(packed);
    else if (length > 0) unpack(packed, target);
    const place: [number, number] = [at, length];
    at += aligned(length);
    return place;
  });
  return { body: unpacked, buffers: places };
}

type Unpack = (packed: Uint8Array, target: Uint8Array) => void;

function codecOf(compression: FlatbufferTable): Unpack {
  const codec = compression.uint8(0);
  if (compression.uint8(1) !== 0) throw new InvalidArrow('its body is compressed in a way that is not known');
  switch (codec) {
    case 0:
      return unpackLz4Frame;
    case 1:
      return unpackZstd;
    default:
      throw new InvalidArrow(`its body is compressed with an unknown codec (${codec})`);
  }
}

function unpackZstd(packed: Uint8Array, target: Uint8Array): void {
  const claimed = zstdContentBytes(packed);
  if (claimed !== undefined && claimed !== target.length) {
    throw new InvalidArrow(`a compressed buffer holds ${claimed} bytes instead of the ${target.length} that it claims`);
  }
  let filled = 0;
  const fill = (piece: Uint8Array): void => {
    target.set(piece, filled);
    filled += piece.length;
  };
  try {
    if (zstdDecompressSync !== undefined) fill(zstdDecompressSync(packed, { maxOutputLength: target.length }));
    else if (claimed === undefined) new Decompress(fill).push(packed, true);
    // It does not report the filled bytes of its target, but trusts the header.
    else filled = decompress(packed, target).length;
  } catch {
    throw new InvalidArrow('a buffer is damaged: its zstd cannot be unpacked');
  }
  if (filled !== target.length) {
    throw new InvalidArrow(`a compressed buffer holds ${filled} bytes instead of the ${target.length} that it claims`);
  }
}

/** The content size in a frame's header; writers may leave it out. */
function zstdContentBytes(packed: Uint8Array): number | undefined {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  if (packed.length < 14) return undefined;
  const flags = view.getUint8(4);
  const isSingle = (flags & 0x20) !== 0;
  const at = (isSingle ? 5 : 6) + ([0, 1, 2, 4][flags & 3] ?? 0);
  if (at + 8 > packed.length) return undefined;
  switch (flags >> 6) {
    case 0:
      return isSingle ? view.getUint8(at) : undefined;
    case 1:
      return view.getUint16(at, true) + 256;
    case 2:
      return view.getUint32(at, true);
    default:
      return Number(view.getBigUint64(at, true));
  }
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / 8) * 8;
}

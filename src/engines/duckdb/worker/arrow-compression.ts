import * as zlib from 'node:zlib';
import { decompress } from 'fzstd';
import { AppError } from '../../../core/app-error.ts';
import { type FlatTable, InvalidArrow } from './arrow-flatbuffer.ts';
import { maxBodyBytes } from './arrow-messages.ts';
import { unpackLz4Frame } from './lz4-frame.ts';

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

/** The body of a record batch as if it had never been compressed, which pyarrow.feather does unless it is told not to. */
export function unpackedBody(compression: FlatTable, { body, buffers }: BatchBody): BatchBody {
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
  if (total > maxBodyBytes) {
    throw new AppError('too_large', `a record batch unpacks to ${total} bytes (at most ${maxBodyBytes})`, {
      hint: 'send the rows in smaller record batches',
    });
  }
  const unpacked = Buffer.allocUnsafeSlow(total);
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

function codecOf(compression: FlatTable): Unpack {
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
  let length: number;
  try {
    if (zstdDecompressSync === undefined) {
      length = decompress(packed, target).length;
    } else {
      const unpacked = zstdDecompressSync(packed, { maxOutputLength: target.length });
      length = unpacked.length;
      target.set(unpacked);
    }
  } catch {
    throw new InvalidArrow('a buffer is damaged: its zstd cannot be unpacked');
  }
  if (length !== target.length) {
    throw new InvalidArrow(`a compressed buffer holds ${length} bytes instead of the ${target.length} that it claims`);
  }
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / 8) * 8;
}

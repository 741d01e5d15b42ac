import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import { Decompress } from 'fzstd';
import { AppError } from '../../core/errors/app-error.ts';
import { UploadReader } from './upload-reader.ts';

type Bytes = AsyncGenerator<Buffer, void, undefined>;

/** Node 20 has none. Without one a checksum of the content is not looked at. */
const { createZstdDecompress } = zlib as { createZstdDecompress?: () => Transform };

/** A frame may claim any size, and its reader must hold it. As in the zstd program; fzstd moves all of it with each block. */
export const maxWindowBytes = (createZstdDecompress === undefined ? 32 : 128) * 1024 * 1024;
const maxBlockBytes = 128 * 1024;
const frameMagic = 0xfd2f_b528;
const skippableMagic = 0x184d_2a50;

/** Zlib's error for such input. */
class ZstdError extends Error {
  readonly code: string;

  constructor(code: 'Z_BUF_ERROR' | 'ZSTD_DAMAGED', message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/**
 * Unpacks zstd, frame by frame: several may stand one behind the other (`pzstd`, `cat`), and Node's own decoder takes
 * the first for the whole.
 */
export async function* decodeZstd(
  body: AsyncIterable<Buffer>,
  through: (body: AsyncIterable<Buffer>, transform: Transform) => Bytes,
): Bytes {
  const reader = new UploadReader(body);
  try {
    while (await reader.fill(1)) {
      await need(reader, 8);
      const magic = reader.buffered.readUInt32LE(0);
      if (magic === frameMagic) {
        const frame = frameUnits(reader);
        yield* createZstdDecompress === undefined ? unpacked(frame) : through(frame, createZstdDecompress());
      } else if ((magic & ~15) >>> 0 === skippableMagic) {
        await skip(reader, 8 + reader.buffered.readUInt32LE(4));
      } else {
        throw damaged('there is something else where a frame should begin');
      }
    }
  } finally {
    reader.release();
  }
}

async function* unpacked(frame: Bytes): Bytes {
  const pieces: Uint8Array[] = [];
  const decompress = new Decompress((piece) => pieces.push(piece));
  const push = (unit: Uint8Array, isLast: boolean): readonly Buffer[] => {
    try {
      decompress.push(unit, isLast);
    } catch (error) {
      throw new ZstdError('ZSTD_DAMAGED', 'a block is damaged', error);
    }
    return pieces.splice(0).map((piece) => Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength));
  };
  for await (const unit of frame) {
    yield* push(unit, false);
    // Decoding a block takes a while, and other requests wait for their turn.
    await new Promise((resolve) => setImmediate(resolve));
  }
  yield* push(new Uint8Array(0), true);
}

/** The header, each block and the checksum of a frame. */
async function* frameUnits(reader: UploadReader): Bytes {
  await need(reader, 6);
  const flags = reader.buffered.readUInt8(4);
  const isSingle = (flags & 0x20) !== 0;
  const dictionaryBytes = [0, 1, 2, 4][flags & 3] ?? 0;
  const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][flags >> 6] ?? 0;
  const sizeAt = (isSingle ? 5 : 6) + dictionaryBytes;
  await need(reader, sizeAt + sizeBytes);
  const windowBytes = isSingle
    ? contentBytes(reader.buffered, sizeAt, sizeBytes)
    : windowOf(reader.buffered.readUInt8(5));
  if (windowBytes > maxWindowBytes) {
    throw new AppError(
      'unsupported_format',
      `the zstd of the body needs ${windowBytes} bytes of memory to be unpacked`,
      {
        hint: `pack it with a window of at most ${maxWindowBytes} bytes: zstd without --long and --ultra`,
      },
    );
  }
  yield reader.take(sizeAt + sizeBytes);

  for (let isLast = false; !isLast; ) {
    await need(reader, 3);
    const head = reader.buffered.readUIntLE(0, 3);
    isLast = (head & 1) === 1;
    const kind = (head >> 1) & 3;
    const size = head >> 3;
    if (kind === 3 || size > maxBlockBytes) throw damaged('a block is of no known kind');
    const bytes = 3 + (kind === 1 ? 1 : size);
    await need(reader, bytes);
    yield reader.take(bytes);
  }
  if ((flags & 4) === 0) return;
  await need(reader, 4);
  yield reader.take(4);
}

function contentBytes(header: Buffer, at: number, bytes: number): number {
  switch (bytes) {
    case 1:
      return header.readUInt8(at);
    case 2:
      return header.readUInt16LE(at) + 256;
    case 4:
      return header.readUInt32LE(at);
    default:
      return Number(header.readBigUInt64LE(at));
  }
}

function windowOf(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 7);
}

async function need(reader: UploadReader, bytes: number): Promise<void> {
  if (await reader.fill(bytes)) return;
  throw new ZstdError('Z_BUF_ERROR', 'unexpected end of file');
}

async function skip(reader: UploadReader, bytes: number): Promise<void> {
  for (let left = bytes; left > 0; ) {
    await need(reader, 1);
    left -= reader.take(Math.min(left, reader.buffered.length)).length;
  }
}

function damaged(message: string): ZstdError {
  return new ZstdError('ZSTD_DAMAGED', message);
}

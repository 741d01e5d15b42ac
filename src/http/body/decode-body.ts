import { pipeline, Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { AppError } from '../../core/app-error.ts';
import { type BodyLimits, tooLarge } from '../exchange/request-body.ts';
import { decodeZstd, maxWindowBytes } from './decode-zstd.ts';

type Bytes = AsyncGenerator<Buffer, void, undefined>;

/** What a body may be packed in, by its name in Content-Encoding. */
const decoders = {
  gzip: (body) => throughZlib(body, createGunzip()),
  deflate: (body) => throughZlib(body, createInflate()),
  br: (body) => throughZlib(body, createBrotliDecompress()),
  zstd: (body) => decodeZstd(body, throughZlib),
} as const satisfies Record<string, (body: AsyncIterable<Buffer>) => Bytes>;

export type BodyCoding = keyof typeof decoders;

const bodyCodings = Object.keys(decoders) as readonly BodyCoding[];

/** Each one more multiplies what a few bytes can blow up to. */
const mostCodings = 2;

/** What a decoder keeps of what it has unpacked, at most. */
const windows = {
  gzip: 32 * 1024,
  deflate: 32 * 1024,
  br: 16 * 1024 * 1024,
  zstd: maxWindowBytes,
} as const satisfies Record<BodyCoding, number>;

/** As many of these as there may be requests under way are little. */
const freeBytes = 64 * 1024;

type DecodeLimits = Pick<BodyLimits, 'maxBodyBytes' | 'takeMemory'>;

/** The codings of a Content-Encoding header, in the order in which they were applied. */
export function parseContentEncoding(header: string | undefined): readonly BodyCoding[] {
  const names = (header ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim().replace(/^x-gzip$/, 'gzip'))
    .filter((name) => name !== '' && name !== 'identity');
  const codings = names.map((name) => bodyCodings.find((coding) => coding === name));
  if (names.length <= mostCodings && codings.every((coding) => coding !== undefined)) return codings;
  throw new AppError(
    'unsupported_format',
    `the Content-Encoding ${JSON.stringify(header?.slice(0, 100))} is not known`,
    {
      hint: `use one of ${bodyCodings.join(', ')}, or send the body as it is`,
    },
  );
}

/** Unpacks while it streams. The bound holds for what comes out, too: a few bytes may hold gigabytes. */
export function decodeBody(body: Bytes, codings: readonly BodyCoding[], limits: DecodeLimits): Bytes {
  return codings.reduceRight((packed, coding) => decoded(packed, coding, limits), body);
}

async function* decoded(body: Bytes, coding: BodyCoding, { maxBodyBytes, takeMemory }: DecodeLimits): Bytes {
  const windowBytes = windows[coding];
  let bytes = 0;
  try {
    for await (const piece of decoders[coding](body)) {
      bytes += piece.length;
      if (bytes > maxBodyBytes) throw tooLarge(maxBodyBytes);
      if (bytes > freeBytes && bytes - piece.length < windowBytes) await takeMemory?.(piece.length);
      yield piece;
    }
  } catch (error) {
    throw isCorruption(error) ? corrupt(coding, error) : error;
  }
}

async function* throughZlib(body: AsyncIterable<Buffer>, transform: Transform): Bytes {
  // What fails on either side comes out of the loop below.
  pipeline(Readable.from(body, { objectMode: false }), transform, () => {});
  for await (const piece of transform) yield piece as Buffer;
}

/** zlib's codes: `Z_DATA_ERROR`, `ERR_PADDING_1` and the like of brotli, `ZSTD_error_checksum_wrong`. */
function isCorruption(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /^(?:Z_|ZSTD_|ERR__?(?:BROTLI|ERROR|ZSTD))/.test(code);
}

function corrupt(coding: BodyCoding, cause: unknown): AppError {
  const isCut = cause instanceof Error && 'code' in cause && cause.code === 'Z_BUF_ERROR';
  return new AppError('invalid_input', `the ${coding} of the body ${isCut ? 'ends too early' : 'is damaged'}`, {
    hint: 'pack the file again and send the whole of it',
    cause,
  });
}

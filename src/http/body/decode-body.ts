import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { AppError } from '../../core/errors/app-error.ts';
import { codedPieces, coderOptions } from '../exchange/coded-pieces.ts';
import { type BodyLimits, tooLarge, uncountedBytes } from '../exchange/request-body.ts';
import { decodeZstd, maxWindowBytes } from './decode-zstd.ts';

type Bytes = AsyncGenerator<Buffer, void, undefined>;

/** Decoders of a body, by the coding's name in Content-Encoding. */
const decoders = {
  gzip: (body, lane) => codedPieces(body, createGunzip(coderOptions), lane),
  deflate: (body, lane) => codedPieces(body, createInflate(coderOptions), lane),
  br: (body, lane) => codedPieces(body, createBrotliDecompress(coderOptions), lane),
  zstd: (body, lane) => decodeZstd(body, (frame, coder) => codedPieces(frame, coder, lane)),
} as const satisfies Record<string, (body: AsyncIterable<Buffer>, lane: string) => Bytes>;

export type BodyCoding = keyof typeof decoders;

const bodyCodings = Object.keys(decoders) as readonly BodyCoding[];

/** Each further coding multiplies the expansion of a few bytes. */
const mostCodings = 2;

/** Most bytes of output that a decoder buffers. */
const windows = {
  gzip: 32 * 1024,
  deflate: 32 * 1024,
  br: 16 * 1024 * 1024,
  zstd: maxWindowBytes,
} as const satisfies Record<BodyCoding, number>;

type DecodeLimits = Pick<BodyLimits, 'maxBodyBytes' | 'takeMemory' | 'lane'>;

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

/** Decodes while it streams. The bound holds for the output, too: a few bytes may hold gigabytes. */
export function decodeBody(body: Bytes, codings: readonly BodyCoding[], limits: DecodeLimits): Bytes {
  return codings.reduceRight((packed, coding) => decoded(packed, coding, limits), body);
}

async function* decoded(body: Bytes, coding: BodyCoding, { maxBodyBytes, takeMemory, lane = '' }: DecodeLimits): Bytes {
  const windowBytes = windows[coding];
  let bytes = 0;
  try {
    for await (const piece of decoders[coding](body, lane)) {
      bytes += piece.length;
      if (bytes > maxBodyBytes) throw tooLarge(maxBodyBytes);
      if (bytes > uncountedBytes && bytes - piece.length < windowBytes) await takeMemory?.(piece.length);
      yield piece;
    }
  } catch (error) {
    throw isCorruption(error) ? corrupt(coding, error) : error;
  }
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

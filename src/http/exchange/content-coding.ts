import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import { coderOptions } from './coded-pieces.ts';

export type ContentCoding = 'br' | 'gzip';

/** Below this many bytes compression saves nothing worth its time. */
export const minCompressedBytes = 1024;

const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
const gzipOptions = { level: 4 };
const brotliAsync = promisify(brotliCompress);
const gzipAsync = promisify(gzip);

/** The coding that the client prefers among ours; brotli without a preference. */
export function chooseCoding(acceptEncoding: string | undefined): ContentCoding | undefined {
  if (acceptEncoding === undefined) return undefined;
  const weights = new Map<string, number>();
  for (const item of acceptEncoding.toLowerCase().split(',')) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim());
    const weight = parameters.find((parameter) => parameter.startsWith('q='));
    const value = weight === undefined ? 1 : Number(weight.slice(2));
    weights.set(name === 'x-gzip' ? 'gzip' : name, Number.isNaN(value) ? 0 : value);
  }
  const weightOf = (coding: ContentCoding): number => weights.get(coding) ?? weights.get('*') ?? 0;
  const best: ContentCoding = weightOf('gzip') > weightOf('br') ? 'gzip' : 'br';
  return weightOf(best) > 0 && weightOf(best) >= (weights.get('identity') ?? 0) ? best : undefined;
}

/** On zlib's thread pool, not on the event loop. */
export function compress(bytes: Uint8Array, coding: ContentCoding): Promise<Buffer> {
  return coding === 'br' ? brotliAsync(bytes, brotliOptions) : gzipAsync(bytes, gzipOptions);
}

export function compressor(coding: ContentCoding): Transform {
  return coding === 'br'
    ? createBrotliCompress({ ...brotliOptions, ...coderOptions })
    : createGzip({ ...gzipOptions, ...coderOptions });
}

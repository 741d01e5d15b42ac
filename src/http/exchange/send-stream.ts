import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type ContentCoding, compressor } from './content-coding.ts';
import { write } from './response-writer.ts';

/** Sends pieces as the client takes them, compressed on the way if a coding is given. */
export async function sendStream(
  response: ServerResponse,
  begun: readonly Uint8Array[],
  rest: AsyncIterable<Uint8Array>,
  coding: ContentCoding | undefined,
): Promise<void> {
  async function* pieces(): AsyncGenerator<Uint8Array, void, undefined> {
    yield* begun;
    yield* rest;
  }
  const send = async (body: AsyncIterable<Uint8Array>): Promise<void> => {
    for await (const piece of body) await write(response, piece);
  };
  if (coding === undefined) await send(pieces());
  else await pipeline(Readable.from(pieces(), { objectMode: false }), compressor(coding), send);
  response.end();
}

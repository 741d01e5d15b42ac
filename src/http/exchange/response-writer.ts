import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { clientGone, type TypedError } from '../../core/error-type.ts';
import { type ContentCoding, compressor } from './content-coding.ts';

/** The client did not wait for the end, or took nothing for too long. */
export class ClientGone extends Error implements TypedError {
  override readonly name = 'ClientGone';
  readonly errorType = clientGone;
}

/** Writes pieces as the client takes them, compressed on the way if a coding is given. */
export async function writePieces(
  response: ServerResponse,
  pieces: AsyncIterable<Uint8Array>,
  coding: ContentCoding | undefined,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const send = async (body: AsyncIterable<Uint8Array>): Promise<void> => {
    for await (const piece of body) {
      onBytes(piece.byteLength);
      await write(response, piece);
    }
  };
  if (coding === undefined) await send(pieces);
  else await pipeline(Readable.from(pieces, { objectMode: false }), compressor(coding), send);
}

/** Writes and, where the client is slower than we are, waits until it has taken what it was given. */
async function write(response: ServerResponse, bytes: Uint8Array): Promise<void> {
  if (response.destroyed) throw new ClientGone('the client went away');
  if (response.write(bytes)) return;
  await new Promise<void>((resolve, reject) => {
    const onDrain = (): void => {
      response.off('close', onClose);
      resolve();
    };
    const onClose = (): void => {
      response.off('drain', onDrain);
      reject(new ClientGone('the client went away'));
    };
    response.once('drain', onDrain).once('close', onClose);
  });
}

import type { ServerResponse } from 'node:http';
import { clientGone, type TypedError } from '../../core/errors/error-type.ts';
import { codedPieces } from './coded-pieces.ts';
import { type ContentCoding, compressor } from './content-coding.ts';

/** The client did not wait for the end, or took nothing for too long. */
export class ClientGone extends Error implements TypedError {
  override readonly name = 'ClientGone';
  readonly errorType = clientGone;
}

/** How pieces are compressed on the way, and in whose turn. */
export interface PieceCoding {
  readonly coding: ContentCoding;
  readonly lane: string;
}

/** Writes pieces as the client takes them, compressed on the way if a coding is given. Waits for `onBytes` after each. */
export async function writePieces(
  response: ServerResponse,
  pieces: AsyncIterable<Uint8Array>,
  coded: PieceCoding | undefined,
  onBytes: (bytes: number) => Promise<void> | undefined,
): Promise<void> {
  const sent = coded === undefined ? pieces : codedPieces(pieces, compressor(coded.coding), coded.lane);
  for await (const piece of sent) {
    const turn = onBytes(piece.byteLength);
    if (turn !== undefined) await turn;
    await write(response, piece);
  }
}

/** Writes and, if the client is slower, waits until it has taken all written bytes. */
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

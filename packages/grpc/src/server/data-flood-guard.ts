import { constants, type Http2Session, type ServerHttp2Stream } from 'node:http2';

interface Pieces {
  count: number;
  bytes: number;
}

/** Pieces before any suspicion. */
const mostPieces = 2000;
/** Clients that send less at a time, on the average, waste time: a piece of one byte costs as much as one of thousands. */
const leastBytes = 16;

const bySession = new WeakMap<Http2Session, Pieces>();

/**
 * The result is to be called with the size of each piece of a request. Cuts off connections that send their messages in
 * crumbs. The first piece of each request does not count, which often is all of a short one.
 */
export function floodGuard({ session }: ServerHttp2Stream): (bytes: number) => void {
  let isFirst = true;
  let pieces: Pieces | undefined;
  return (bytes) => {
    if (isFirst || session === undefined) {
      isFirst = false;
      return;
    }
    pieces ??= piecesOf(session);
    pieces.count += 1;
    pieces.bytes += bytes;
    if (pieces.count > mostPieces && pieces.bytes < pieces.count * leastBytes) {
      session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
    }
  };
}

function piecesOf(session: Http2Session): Pieces {
  const pieces = bySession.get(session) ?? { count: 0, bytes: 0 };
  bySession.set(session, pieces);
  return pieces;
}

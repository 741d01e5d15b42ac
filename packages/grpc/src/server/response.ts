import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { floodGuard } from './data-flood-guard.ts';
import { endWithMessages } from './message-writer.ts';
import type { Message } from './method.ts';
import { onStall, type StallTimeout } from './write-stall.ts';

const responseHeaders: OutgoingHttpHeaders = {
  ':status': 200,
  'content-type': 'application/grpc',
  'grpc-accept-encoding': 'identity',
};

/**
 * Clients stop by themselves once they have an answer. Seen with Node's: a client whose stream is reset while it writes loses the
 * answer and waits for ever.
 */
const resetAfterMs = 250;
/** Until then, so that a client which does not stop does not keep us busy. */
const firstDroppedBytes = 8 * 1024 * 1024;

/** For calls without headers of their own. */
export const noHeaders: OutgoingHttpHeaders = {};

const trailersFollow = { waitForTrailers: true } as const;

export function startResponse(stream: ServerHttp2Stream, headers: OutgoingHttpHeaders): void {
  // Node copies them.
  stream.respond(headers === noHeaders ? responseHeaders : { ...headers, ...responseHeaders }, trailersFollow);
}

/**
 * Ends the response, with the messages that are not sent yet. Trailers without a message before them are sent as the headers. The
 * result is to be called when the stream is closed.
 */
export function endResponse(
  stream: ServerHttp2Stream,
  trailers: OutgoingHttpHeaders,
  stallTimeout: StallTimeout,
  last: readonly Message[] = [],
): () => void {
  if (stream.closed || stream.destroyed) return () => {};
  // First, as Node resets an answered stream without a reader at once.
  if (!stream.readableEnded) dropRequest(stream);
  if (stream.headersSent) {
    stream.once('wantTrailers', () => stream.sendTrailers(trailers));
    endWithMessages(stream, last);
  } else {
    stream.respond({ ...responseHeaders, ...trailers }, { endStream: true });
  }
  return onStall(stream, stallTimeout, () => stream.close(constants.NGHTTP2_CANCEL));
}

/** Unread bytes are dropped, else the stream would never close. */
function dropRequest(stream: ServerHttp2Stream): void {
  const count = floodGuard(stream);
  let bytesToDrop = firstDroppedBytes;
  stream.removeAllListeners('data');
  stream.on('data', (piece: Buffer) => {
    count(piece.length);
    bytesToDrop -= piece.length;
    if (bytesToDrop < 0) stream.pause();
  });
  stream.resume();
  let before = bytesToDrop;
  const reset = setInterval(() => {
    const isMoving = bytesToDrop >= 0 && bytesToDrop < before;
    before = bytesToDrop;
    if (isMoving) return;
    bytesToDrop = Number.POSITIVE_INFINITY;
    stream.resume();
    // A reset would take away an answer that still waits for the socket.
    if (stream.state.localClose === 1) stream.close(constants.NGHTTP2_NO_ERROR);
  }, resetAfterMs);
  stream.once('close', () => clearInterval(reset));
}

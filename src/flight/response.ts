import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { onStall } from './stall.ts';

const responseHeaders: OutgoingHttpHeaders = {
  ':status': 200,
  'content-type': 'application/grpc',
  'grpc-accept-encoding': 'identity',
};

export function startResponse(stream: ServerHttp2Stream, headers: OutgoingHttpHeaders): void {
  stream.respond({ ...headers, ...responseHeaders }, { waitForTrailers: true });
}

/** Ends the response. Trailers without a message before them are sent as the headers. */
export function endResponse(stream: ServerHttp2Stream, trailers: OutgoingHttpHeaders, stallTimeoutMs: number): void {
  if (stream.closed || stream.destroyed) return;
  stream.once(
    'close',
    onStall(stream, stallTimeoutMs, () => stream.close(constants.NGHTTP2_CANCEL)),
  );
  if (stream.headersSent) {
    stream.once('wantTrailers', () => {
      stream.sendTrailers(trailers);
      setImmediate(stopRequest, stream);
    });
    stream.end();
  } else {
    stream.respond({ ...responseHeaders, ...trailers }, { endStream: true });
    setImmediate(stopRequest, stream);
  }
}

/** Who still uploads has its answer already. What it sent and nobody read is dropped, else the stream would never close. */
function stopRequest(stream: ServerHttp2Stream): void {
  if (stream.readableEnded) return;
  stream.close(constants.NGHTTP2_NO_ERROR);
  stream.removeAllListeners('readable');
  stream.resume();
}

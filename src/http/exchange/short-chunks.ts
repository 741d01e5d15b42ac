import type { IncomingMessage } from 'node:http';

/** Numbers of callbacks of Node's parser of HTTP, the same in all versions that we run on. */
const onBody = 3;
const onMessageComplete = 4;
type Callback = (this: unknown, ...values: unknown[]) => unknown;
type Parser = Record<number, Callback | undefined>;

/** A shorter chunk takes longer to parse than to read. */
const shortBytes = 16;
/** In one turn of the event loop, of one body. */
const mostShortChunks = 500;

const cut = new WeakSet<IncomingMessage>();

/** Whether the rest of a body was not read, because it came in too many short chunks. */
export function isCutShort(request: IncomingMessage): boolean {
  return cut.has(request);
}

/**
 * The parser passes on each chunk of a body by itself, in the turn in which its bytes were read: chunks of one byte, from some hundred
 * connections at once, stop the event loop for seconds. After some hundred short ones in a turn, it skips the rest of the body.
 */
export function watchShortChunks(request: IncomingMessage): void {
  if (request.headers['transfer-encoding'] === undefined) return;
  const { socket } = request;
  const { parser } = socket as { readonly parser?: Parser | null };
  const [pass, complete] = [parser?.[onBody], parser?.[onMessageComplete]];
  if (parser == null || typeof pass !== 'function' || typeof complete !== 'function') return;
  let chunks = 0;
  const restore = (): void => {
    parser[onBody] = pass;
    parser[onMessageComplete] = complete;
    socket.off('close', restore);
  };
  const beginTurn = (): void => {
    chunks = 0;
  };
  parser[onBody] = function (...values) {
    const [piece] = values as [Buffer];
    if (piece.length < shortBytes) {
      if (chunks++ === 0) setImmediate(beginTurn);
      if (chunks > mostShortChunks) {
        cut.add(request);
        parser[onBody] = undefined;
      }
    }
    return pass.apply(this, values);
  };
  parser[onMessageComplete] = function (...values) {
    restore();
    return complete.apply(this, values);
  };
  // The parser goes back to a pool for other connections.
  socket.once('close', restore);
}

import type { ServerHttp2Stream } from 'node:http2';

const looks = 4;
/** Where others on the connection are read, only the time tells that one is not. */
const leastLooks = 10 * looks;
/** What waits may be large: so many bytes have a look more. */
const bytesInLook = 256 * 1024;
/** Pings and the like go on also where no data is taken. */
const negligibleBytes = 1024;

/**
 * Calls `stalled` once the connection of a stream took next to nothing for so long, or what the stream waits to send was not taken
 * in ten times as long, and longer where it is much. Gives what to call when the wait is over.
 *
 * The timeout of Node's own streams starts anew with every byte on the connection, also with those of our pings: a client
 * that grants no window and answers pings would stay for ever.
 */
export function onStall(stream: ServerHttp2Stream, stallTimeoutMs: number, stalled: () => void): () => void {
  let taken = bytesTaken(stream);
  let quietLooks = 0;
  let allLooks = 0;
  const mostLooks = leastLooks + stream.writableLength / bytesInLook;
  const timer = setInterval(() => {
    const now = bytesTaken(stream);
    const isQuiet = now - taken <= negligibleBytes;
    quietLooks = isQuiet ? quietLooks + 1 : 0;
    if (!isQuiet) taken = now;
    allLooks += 1;
    if (quietLooks < looks && allLooks < mostLooks) return;
    clearInterval(timer);
    stalled();
  }, stallTimeoutMs / looks);
  return () => clearInterval(timer);
}

function bytesTaken({ session }: ServerHttp2Stream): number {
  return session === undefined || session.destroyed ? 0 : session.socket.bytesWritten;
}

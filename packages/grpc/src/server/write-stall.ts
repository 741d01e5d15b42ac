import type { ServerHttp2Stream } from 'node:http2';
import { TimeoutList } from '@framehold/async';

/** Most time for which a client may take no byte while there is something to send. Shared by all streams that wait. */
export class StallTimeout {
  readonly looks: TimeoutList;

  constructor(timeoutMs: number) {
    this.looks = new TimeoutList(timeoutMs / looksInTimeout);
  }
}

const looksInTimeout = 4;
/** While others on the connection are read, only time shows that one is not. */
const leastLooks = 10 * looksInTimeout;
/** A large write gets a further look for each of these. */
const bytesInLook = 256 * 1024;
/** Pings and the like go on also where no data is taken. */
const negligibleBytes = 1024;

/**
 * Calls `stalled` once the connection of a stream took next to nothing for this time, or the stream's bytes were not taken in ten
 * times as long, and longer if they are many. Returns a function for the end of the wait.
 *
 * The timeout of Node's own streams starts anew with every byte on the connection, also with those of our pings: a client that
 * grants no window and answers pings would stay for ever.
 */
export function onStall(stream: ServerHttp2Stream, { looks }: StallTimeout, stalled: () => void): () => void {
  // Unknown before the first look: most streams are over by then, and Node is slow to give it.
  let taken: number | undefined;
  let quietLooks = 0;
  let allLooks = 0;
  const mostLooks = leastLooks + stream.writableLength / bytesInLook;
  const look = (): void => {
    const now = bytesTaken(stream);
    const isQuiet = taken !== undefined && now - taken <= negligibleBytes;
    quietLooks = isQuiet ? quietLooks + 1 : 0;
    if (!isQuiet) taken = now;
    allLooks += 1;
    if (quietLooks < looksInTimeout && allLooks < mostLooks) clear = looks.start(look);
    else stalled();
  };
  let clear = looks.start(look);
  return () => clear();
}

function bytesTaken({ session }: ServerHttp2Stream): number {
  return session === undefined || session.destroyed ? 0 : session.socket.bytesWritten;
}

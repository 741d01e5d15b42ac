import type { ServerHttp2Stream } from 'node:http2';
import { TimeoutList } from '../../core/async/timeout-list.ts';

/** How long a client may take no byte while there is something to send. Shared by all streams that wait. */
export class StallTimeout {
  readonly looks: TimeoutList;

  constructor(timeoutMs: number) {
    this.looks = new TimeoutList(timeoutMs / looksInTimeout);
  }
}

const looksInTimeout = 4;
/** Where others on the connection are read, only the time tells that one is not. */
const leastLooks = 10 * looksInTimeout;
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
export function onStall(stream: ServerHttp2Stream, { looks }: StallTimeout, stalled: () => void): () => void {
  // Not known before the first look: most streams are over by then, and Node takes long to tell it.
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

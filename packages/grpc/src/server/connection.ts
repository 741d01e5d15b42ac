import type { ServerHttp2Session } from 'node:http2';

export interface ConnectionTimeouts {
  /** For the client's HTTP/2 preface and settings to arrive. */
  readonly handshakeTimeoutMs: number;
  /** Time between pings to every client; one that is silent through more than three pings is gone. */
  readonly keepaliveMs: number;
  /** A connection without calls is closed after this. */
  readonly idleTimeoutMs: number;
  /** Time after the last bytes of a connection until a check whether it can still be written to. */
  readonly probeMs: number;
}

const maxSilentPings = 3;
/** Time between GOAWAY and closing the connection. Node would wait until the client closes its side. */
const closeGraceMs = 1000;
/** Buffers of the kernel hold more than this, also where the client does not read. */
const surelyTakenBytes = 16_384;
/** More than one: a write may just wait for a busy event loop. */
const mostStuckLooks = 3;

/**
 * Ends a connection that is silent, dead or idle. The returned function is called for each call, and returns one for its end.
 *
 * Node answers a violation of HTTP/2 with GOAWAY, and then neither reads nor writes, but leaves the socket open, even one that its
 * client has closed. Such a connection shows only in a ping that is never written.
 */
export function watchConnection(session: ServerHttp2Session, timeouts: ConnectionTimeouts): () => () => void {
  const { handshakeTimeoutMs, keepaliveMs, idleTimeoutMs, probeMs } = timeouts;
  const { socket } = session;
  let calls = 0;
  let silentPings = 0;
  let bytesHeard = 0;
  let idleSinceMs = performance.now();

  // One timer for all calls, which checks when it fires: starting one at the end of each would cost small calls.
  const look = (): void => {
    if (session.closed || session.destroyed) return;
    const idleMs = calls === 0 ? performance.now() - idleSinceMs : 0;
    if (idleMs < idleTimeoutMs) {
      idle = setTimeout(look, idleTimeoutMs - idleMs);
      return;
    }
    session.goaway();
    idle = setTimeout(letGo, closeGraceMs);
  };
  const letGo = (): void => {
    // A call may have begun meanwhile.
    if (calls === 0) session.destroy();
    else idle = setTimeout(letGo, closeGraceMs);
  };
  let idle = setTimeout(look, idleTimeoutMs);
  const handshake = setTimeout(() => session.destroy(), handshakeTimeoutMs);
  const keepalive = setInterval(() => {
    if (session.destroyed) return;
    // Any byte is a sign of life: behind a slow link the answer to a ping waits for the data before it.
    silentPings = socket.bytesRead > bytesHeard ? 0 : silentPings + 1;
    bytesHeard = socket.bytesRead;
    if (silentPings > maxSilentPings) session.destroy();
    else session.ping(() => {});
  }, keepaliveMs);

  let bytesAtProbe = -1;
  let stuckLooks = 0;
  const probe = setInterval(() => {
    if (session.destroyed) return;
    const isQuiet = socket.bytesRead === bytesAtProbe;
    const isStuck = isQuiet && (session.state.outboundQueueSize ?? 0) > 0 && socket.bytesWritten < surelyTakenBytes;
    stuckLooks = isStuck ? stuckLooks + 1 : 0;
    if (!isQuiet) {
      bytesAtProbe = socket.bytesRead;
      session.ping((error) => {
        if (error === null) bytesAtProbe = socket.bytesRead;
      });
    } else if (stuckLooks >= mostStuckLooks) {
      session.destroy();
    }
  }, probeMs);

  session.once('remoteSettings', () => clearTimeout(handshake));
  session.once('close', () => {
    clearTimeout(idle);
    clearTimeout(handshake);
    clearInterval(keepalive);
    clearInterval(probe);
  });

  const leave = (): void => {
    calls -= 1;
    idleSinceMs = performance.now();
  };
  return () => {
    calls += 1;
    return leave;
  };
}

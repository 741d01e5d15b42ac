import type { Server, Socket } from 'node:net';
import type { Logger } from '../logs/logger.ts';
import { networkOf } from './address-counts.ts';
import { Tally } from './tally.ts';

/** Share of all connections that one client leaves to the others. */
const partForOthers = 0.1;
const warnEveryMs = 1000;

/** Those of all addresses together, where one may have `most`. */
export function mostOfAll(most: number): number {
  return most + Math.ceil(most * partForOthers);
}

/**
 * Closes a new connection at once if its address has `maxConnections`. Others have a tenth more, of which no address takes what is
 * left: it may have as many as stay free. The returned function gives the number of open connections.
 */
export function limitConnections(server: Server, maxConnections: number, logger: Logger): () => number {
  const open = new Tally<string>();
  let count = 0;
  let warnedAtMs = Number.NEGATIVE_INFINITY;
  const warn = (facts: object): void => {
    if (performance.now() - warnedAtMs < warnEveryMs) return;
    warnedAtMs = performance.now();
    logger.warn('connections refused', { maxConnections, ...facts });
  };
  server.maxConnections = mostOfAll(maxConnections);
  server.on('drop', () => warn({}));
  // With TLS, too, this is the connection below it, from its first byte on.
  server.on('connection', (socket: Socket) => {
    const address = networkOf(socket.remoteAddress ?? '');
    count++;
    socket.once('close', () => {
      count--;
      open.remove(address);
    });
    const own = open.add(address);
    const free = mostOfAll(maxConnections) - count;
    if (own <= maxConnections && (count <= maxConnections || own <= free + 1)) return;
    warn({ address });
    socket.destroy();
  });
  return () => count;
}

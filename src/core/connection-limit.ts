import type { Server, Socket } from 'node:net';
import { networkOf } from './address-counts.ts';
import type { Logger } from './logger.ts';
import { Tally } from './tally.ts';

/** What one client cannot take from the others, as a part of all. */
const partForOthers = 0.1;
const warnEveryMs = 1000;

/** Those of all addresses together, where one may have `most`. */
export function mostOfAll(most: number): number {
  return most + Math.ceil(most * partForOthers);
}

/**
 * Closes a connection at once where there are `maxConnections` from its address. Others have a tenth more. What this returns
 * tells how many are open.
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
    if (open.add(address) <= maxConnections) return;
    warn({ address });
    socket.destroy();
  });
  return () => count;
}

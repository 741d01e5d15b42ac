import type { Exchange } from './route.ts';

/** Requests of one connection wait behind each other, those of different ones take turns. */
export function laneOf({ request }: Pick<Exchange, 'request'>): string {
  return String(request.socket.remotePort);
}

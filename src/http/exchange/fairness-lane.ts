import type { Exchange } from './route.ts';

/** Clients take turns, told apart by their address, and among one client's requests its connections. */
export function fairnessLane({ request }: Pick<Exchange, 'request'>): string {
  const { remoteAddress, remotePort } = request.socket;
  return `${remoteAddress}#${remotePort}`;
}

import type { X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

const verified = new WeakMap<TLSSocket, X509Certificate>();
const without = new WeakSet<TLSSocket>();

/**
 * The client's certificate that the handshake verified. `authorized` alone is no proof: a resumed session without a certificate
 * has it, too (nodejs/node#35317).
 */
export function clientCertificate(socket: Socket): X509Certificate | undefined {
  if (!(socket instanceof TLSSocket) || without.has(socket)) return undefined;
  const known = verified.get(socket);
  if (known !== undefined) return known;
  const certificate = socket.authorized ? socket.getPeerX509Certificate() : undefined;
  if (certificate === undefined) without.add(socket);
  else verified.set(socket, certificate);
  return certificate;
}

/** Whether the client has shown a certificate that the handshake did not verify. */
export function hasUnverifiedCertificate(socket: TLSSocket): boolean {
  return !socket.authorized && socket.getPeerX509Certificate() !== undefined;
}

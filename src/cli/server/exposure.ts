import type { Config } from '../../config/config.ts';
import { formatAddress, type ListenAddress } from '../../config/listen-address.ts';
import { isLoopback } from '../../core/callers/loopback.ts';

/** The abilities of clients that reach the server. */
export interface Exposure {
  readonly found: string;
  readonly meaning: string;
  readonly remedy: string;
}

/** Undefined if others do not reach these addresses, or must authenticate, with encryption. */
export function exposure(
  addresses: readonly ListenAddress[],
  { auth, tls }: Pick<Config, 'auth' | 'tls'>,
): Exposure | undefined {
  if (auth.enabled && tls.certFile !== undefined) return undefined;
  const open = addresses.filter(({ host }) => !isLoopback(host)).map(formatAddress);
  if (open.length === 0) return undefined;
  const where = open.join(' or ');
  const bind = 'or bind to 127.0.0.1 (--http-bind-address, --grpc-host), or let only trusted networks in';
  return auth.enabled
    ? {
        found: 'no TLS',
        meaning: `tokens pass to ${where} in clear text`,
        remedy: `set tls.cert_file and tls.key_file, ${bind}`,
      }
    : {
        found: 'no authentication',
        meaning: `whoever can reach ${where} can read, replace and drop every frame`,
        remedy: `set auth.enabled, ${bind}`,
      };
}

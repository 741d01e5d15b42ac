import type { Config } from '../../config/config.ts';
import { formatAddress, type ListenAddress } from '../../config/listen-address.ts';
import { isLoopback } from '../../core/loopback.ts';

/** What those who reach the server can do. */
export interface Exposure {
  readonly found: string;
  readonly meaning: string;
  readonly remedy: string;
}

/** Undefined where others do not reach these addresses, or must show who they are, in secret. */
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

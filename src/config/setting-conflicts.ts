import type { Config } from './config.ts';
import { isWildcard } from './listen-address.ts';

/** What is wrong with values that are right each on its own, as the line to show. */
export function settingConflict(config: Config, originOf: (key: string) => string): string | undefined {
  const { algorithm, level } = config.compression;
  if (algorithm !== 'zstd' && level !== undefined) {
    return (
      `compression.level is ${level} (set by ${originOf('compression.level')}), but ${algorithm} has no levels ` +
      `(compression.algorithm, set by ${originOf('compression.algorithm')}); remove the level or choose zstd`
    );
  }
  const { bindAddress } = config.http;
  const { grpcHost, grpcPort } = config.server;
  const sameHost = bindAddress.host === grpcHost || isWildcard(bindAddress.host) || isWildcard(grpcHost);
  if (grpcPort !== 0 && grpcPort === bindAddress.port && sameHost) {
    return (
      `server.grpc_port is ${grpcPort} (set by ${originOf('server.grpc_port')}), which is also the port of ` +
      `http.bind_address (set by ${originOf('http.bind_address')}); expected two different ports`
    );
  }
  return undefined;
}

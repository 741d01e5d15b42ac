import { reservedEngineNames } from '../core/engine-names.ts';
import { didYouMean } from '../core/text/did-you-mean.ts';
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
  return engineConflict(config, originOf);
}

function engineConflict({ sql, engines }: Config, originOf: (key: string) => string): string | undefined {
  const clusters = [...engines.keys()];
  const complaint = (key: string, name: string, known: readonly string[]): string => {
    const isOneOf =
      known.length === 0 ? 'a section [engines.<name>], of which there is none' : `one of ${known.join(', ')}`;
    return `${key} is ${JSON.stringify(name)} (set by ${originOf(key)}); expected ${isOneOf}${didYouMean(name, known)}`;
  };
  const { defaultEngine, autoEngine } = sql;
  const known = [...reservedEngineNames, ...clusters];
  if (!known.includes(defaultEngine)) return complaint('sql.default_engine', defaultEngine, known);
  if (autoEngine !== undefined && !engines.has(autoEngine)) return complaint('sql.auto_engine', autoEngine, clusters);
  return undefined;
}

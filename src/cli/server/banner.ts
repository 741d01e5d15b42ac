import { join } from 'node:path';
import type { Config } from '../../config/config.ts';
import { formatAddress, isWildcard, type ListenAddress } from '../../config/listen-address.ts';
import type { RunningServer } from '../framework/server-module.ts';

/** Printed by the server once both listeners accept. */
export function banner(
  { httpAddress, grpcAddress, frameCount }: RunningServer,
  config: Config,
  version: string,
): string {
  const { dataDir, parquetPath } = config.storage;
  const isTls = config.tls.certFile !== undefined;
  const http = isTls ? 'https' : 'http';
  const base = `${http}://${formatAddress(reachable(httpAddress))}`;
  const hasDemo = config.frames.demo;
  const path = hasDemo ? '/exec?handle=trades&fmt=json&limit=3' : '/ping';
  const token = hasDemo && config.auth.enabled ? '-H "Authorization: Bearer $FRAMEHOLD_TOKEN" ' : '';
  const rows = [
    ['HTTP', `${http}://${formatAddress(httpAddress)}`],
    ['gRPC', `${isTls ? 'grpc+tls' : 'grpc'}://${formatAddress(grpcAddress)}`],
    ['data', dataDir],
    ...(parquetPath === join(dataDir, 'cold') ? [] : [['cold', parquetPath]]),
    ['frames', String(frameCount)],
    ...(config.http.console ? [['open', `${base}/`]] : []),
    ['try', `curl ${token}'${base}${path}'`],
  ];
  return `Framehold ${version}\n${rows.map(([name = '', value]) => `  ${name.padEnd(6)}  ${value}\n`).join('')}`;
}

/** A wildcard can be bound to, but not everywhere connected to. */
function reachable({ host, port }: ListenAddress): ListenAddress {
  return isWildcard(host) ? { host: host === '::' ? '::1' : '127.0.0.1', port } : { host, port };
}

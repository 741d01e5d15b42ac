import type { Config } from '../../config/config.ts';
import { formatAddress, type ListenAddress } from '../../config/listen-address.ts';
import { AppError } from '../../core/errors/app-error.ts';

interface ListenFailure extends Error {
  readonly code: string;
  readonly address?: string;
  readonly hostname?: string;
  readonly port?: number;
}

const listenReasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is taken by another program',
  EACCES: 'may not be bound by this user',
  EADDRNOTAVAIL: 'is not an address of this machine',
  ENOTFOUND: 'has a host name that does not resolve',
};

/** Why the server did not start, on one line, with the setting that helps. */
export function startFailure(thrown: unknown, config: Config): string {
  const failure = findListenFailure(thrown);
  if (failure !== undefined) return listenLine(failure, config);
  if (thrown instanceof AppError)
    return `could not start: ${thrown.message}${thrown.hint === undefined ? '' : `; ${thrown.hint}`}`;
  const reason = String(thrown instanceof Error ? thrown.message : thrown).replaceAll('\n', ' ');
  return `could not start: ${reason}; --log-level debug shows where`;
}

function findListenFailure(thrown: unknown, depth = 0): ListenFailure | undefined {
  if (!(thrown instanceof Error) || depth > 5) return undefined;
  const { code, syscall } = thrown as NodeJS.ErrnoException;
  const isListen =
    code !== undefined && Object.hasOwn(listenReasons, code) && /^(listen|bind|getaddrinfo)$/.test(syscall ?? '');
  return isListen ? (thrown as ListenFailure) : findListenFailure(thrown.cause, depth + 1);
}

function listenLine(failure: ListenFailure, config: Config): string {
  const http = config.http.bindAddress;
  const further = [
    { what: 'health', address: config.server.healthAddress, name: 'HEALTH_ADDRESS' },
    { what: 'metrics', address: config.metrics.bindAddress, name: 'METRICS_BIND_ADDRESS' },
  ];
  for (const { what, address, name } of further) {
    if (address === undefined || failure.port !== address.port || address.port === http.port) continue;
    const flag = name.toLowerCase().replaceAll('_', '-');
    return (
      `the ${what} address ${formatAddress(address)} ${listenReasons[failure.code]}; ` +
      `choose another with --${flag} or FRAMEHOLD_${name}`
    );
  }
  const grpc: ListenAddress = { host: config.server.grpcHost, port: config.server.grpcPort };
  const isGrpc =
    failure.port === undefined
      ? failure.hostname !== http.host
      : failure.port !== http.port || (grpc.port === http.port && failure.address === grpc.host);
  const where = `${isGrpc ? 'gRPC' : 'HTTP'} address ${formatAddress(isGrpc ? grpc : http)}`;
  const move = isGrpc
    ? 'choose another with --grpc-host, --grpc-port or FRAMEHOLD_GRPC_HOST, FRAMEHOLD_GRPC_PORT'
    : 'choose another with --http-bind-address or FRAMEHOLD_HTTP_BIND_ADDRESS';
  return `the ${where} ${listenReasons[failure.code]}; ${move}`;
}

import { isIP, isIPv6 } from 'node:net';

export interface ListenAddress {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
}

/** A host name or an IP address; IPv6 with or without brackets. */
export function parseHost(text: string): string | undefined {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  if (bare !== text) return isIPv6(bare) ? bare : undefined;
  if (isIP(bare) !== 0) return bare;
  const isName = /^[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_.])?$/.test(bare);
  const isBrokenIp = /^[\d.]+$/.test(bare);
  return isName && !isBrokenIp ? bare : undefined;
}

export function parsePort(text: string): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  return port <= 65_535 ? port : undefined;
}

/** `host:port`, or `[::1]:9000`. */
export function parseListenAddress(text: string): ListenAddress | undefined {
  const match = /^(\[[^\]]*\]|[^:]+):(\d+)$/.exec(text);
  const host = parseHost(match?.[1] ?? '');
  const port = parsePort(match?.[2] ?? '');
  return host === undefined || port === undefined ? undefined : { host, port };
}

export function formatAddress({ host, port }: ListenAddress): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

export function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

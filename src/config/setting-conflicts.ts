import { reservedEngineNames } from '../core/names/engine-names.ts';
import { didYouMean } from '../core/text/did-you-mean.ts';
import type { Config } from './config.ts';
import { formatAddress, isWildcard, type ListenAddress } from './listen-address.ts';

/** The fault of values that are valid one by one, as the line to show. */
export function settingConflict(config: Config, originOf: (key: string) => string): string | undefined {
  const { algorithm, level } = config.compression;
  if (algorithm !== 'zstd' && level !== undefined) {
    return (
      `compression.level is ${level} (set by ${originOf('compression.level')}), but ${algorithm} has no levels ` +
      `(compression.algorithm, set by ${originOf('compression.algorithm')}); remove the level or choose zstd`
    );
  }
  return (
    portConflict(config, originOf) ??
    tlsConflict(config, originOf) ??
    engineConflict(config, originOf) ??
    authConflict(config, originOf) ??
    auditConflict(config, originOf)
  );
}

/** Two listeners cannot have one port, unless each has its own address. */
function portConflict({ http, server, metrics }: Config, originOf: (key: string) => string): string | undefined {
  const { grpcHost: host, grpcPort: port } = server;
  const listeners: { readonly key: string; readonly address: ListenAddress; readonly value: string | number }[] = [
    { key: 'http.bind_address', address: http.bindAddress, value: formatAddress(http.bindAddress) },
    { key: 'server.grpc_port', address: { host, port }, value: port },
  ];
  const others = { 'server.health_address': server.healthAddress, 'metrics.bind_address': metrics.bindAddress };
  for (const [key, address] of Object.entries(others))
    if (address !== undefined) listeners.push({ key, address, value: formatAddress(address) });
  for (const [at, { key, address, value }] of listeners.entries()) {
    const other = listeners.slice(0, at).find((before) => isSamePort(before.address, address));
    if (other === undefined) continue;
    return (
      `${key} is ${value} (set by ${originOf(key)}), which is also the port of ` +
      `${other.key} (set by ${originOf(other.key)}); expected two different ports`
    );
  }
  return undefined;
}

function isSamePort(a: ListenAddress, b: ListenAddress): boolean {
  return a.port !== 0 && a.port === b.port && (a.host === b.host || isWildcard(a.host) || isWildcard(b.host));
}

function auditConflict({ audit }: Config, originOf: (key: string) => string): string | undefined {
  if (audit.file !== undefined || audit.onFailure === undefined) return undefined;
  return `audit.on_failure is set (by ${originOf('audit.on_failure')}), but audit.file is not; name the file`;
}

/** A rule about callers that is not enforced is worse than none. */
function authConflict({ auth, tls }: Config, originOf: (key: string) => string): string | undefined {
  const { enabled, anonymous, issuers, certificates } = auth;
  if (!enabled) {
    const [issuer] = issuers.keys();
    const [rule] = certificates.keys();
    const unused =
      (anonymous !== undefined && `auth.anonymous is set (by ${originOf('auth.anonymous')})`) ||
      (issuer !== undefined && `there is a section [auth.issuers.${issuer}]`) ||
      (rule !== undefined && `there is a section [auth.certificates.${rule}]`);
    return unused === false ? undefined : `${unused}, but auth.enabled is false; set auth.enabled = true, or remove it`;
  }
  return issuerConflict(auth) ?? certificateConflict(auth, tls);
}

function issuerConflict({ issuers }: Config['auth']): string | undefined {
  const names = new Map<string, string>();
  for (const [name, { issuer, tenant, tenantClaim }] of issuers) {
    const section = `[auth.issuers.${name}]`;
    if ((tenant === undefined) === (tenantClaim === undefined)) {
      const both = tenant === undefined ? 'neither tenant nor tenant_claim' : 'both tenant and tenant_claim';
      return `${section} has ${both}; expected one of them`;
    }
    const other = names.get(issuer);
    if (other !== undefined) return `[auth.issuers.${other}] and ${section} have the same issuer; keep one of them`;
    names.set(issuer, name);
  }
  return undefined;
}

function certificateConflict({ certificates }: Config['auth'], tls: Config['tls']): string | undefined {
  for (const [name, { uri, dns, cn }] of certificates) {
    if (tls.clientAuth === 'off') {
      return `there is a section [auth.certificates.${name}], but tls.client_auth is off; set it to optional or required`;
    }
    const given = [uri, dns, cn].filter((each) => each !== undefined).length;
    if (given !== 1) return `[auth.certificates.${name}] has ${given} of uri, dns and cn; expected one of them`;
  }
  return undefined;
}

/** A setting of TLS that would not be enforced. */
function tlsConflict({ tls }: Config, originOf: (key: string) => string): string | undefined {
  const { certFile, keyFile, clientAuth, clientCaFile, crlFile, minVersion } = tls;
  const isOff = clientAuth === 'off';
  const missing = (key: string, needed: string): string =>
    `tls.${key} is set (by ${originOf(`tls.${key}`)}) without ${needed}; set both, or neither`;
  if (keyFile !== undefined && certFile === undefined) return missing('key_file', 'tls.cert_file');
  if (certFile !== undefined && keyFile === undefined) return missing('cert_file', 'tls.key_file');
  if (certFile === undefined && minVersion !== '1.2') return missing('min_version', 'tls.cert_file');
  if (crlFile !== undefined && clientCaFile === undefined) return missing('crl_file', 'tls.client_ca_file');
  if (clientCaFile !== undefined && isOff) {
    return (
      `tls.client_ca_file is set (by ${originOf('tls.client_ca_file')}), but tls.client_auth is off; ` +
      'set it to optional or required, or leave out the file'
    );
  }
  if (isOff) return undefined;
  if (certFile === undefined) return missing('client_auth', 'tls.cert_file');
  if (clientCaFile === undefined) return missing('client_auth', 'tls.client_ca_file');
  return undefined;
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

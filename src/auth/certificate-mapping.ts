import type { X509Certificate } from 'node:crypto';
import type { Role, Tenant } from '../core/callers/principal.ts';

/** One table of `[auth.certificates.<name>]`: its certificates, and their callers. */
export interface CertificateRule {
  readonly name: string;
  /** A pattern in one of the three: `*` matches any characters but `/`. */
  readonly uri: string | undefined;
  readonly dns: string | undefined;
  readonly cn: string | undefined;
  readonly tenant: Tenant;
  readonly role: Role;
}

export interface CertificateIdentity {
  readonly name: string;
  readonly tenant: Tenant;
  readonly role: Role;
}

/** The holder of the certificate: by its SAN URIs, else its DNS names, else its common name. Undefined: no rule matches. */
export function identifyCertificate(
  certificate: X509Certificate,
  rules: readonly CertificateRule[],
): CertificateIdentity | undefined {
  const names = certificateNames(certificate);
  for (const field of ['uri', 'dns', 'cn'] as const) {
    for (const rule of rules) {
      const pattern = rule[field];
      const name = pattern === undefined ? undefined : names[field].find((each) => matches(pattern, each));
      if (name !== undefined) return { name, tenant: rule.tenant, role: rule.role };
    }
  }
  return undefined;
}

/** Whether a rule still gives this to a certificate of this name. */
export function isMapped({ name, tenant, role }: CertificateIdentity, rules: readonly CertificateRule[]): boolean {
  return rules.some((rule) => {
    // An operator acts in any tenant.
    if (rule.role !== role || (role !== 'operator' && rule.tenant !== tenant)) return false;
    return [rule.uri, rule.dns, rule.cn].some((pattern) => pattern !== undefined && matches(pattern, name));
  });
}

function certificateNames(certificate: X509Certificate): Record<'uri' | 'dns' | 'cn', string[]> {
  const names = { uri: [] as string[], dns: [] as string[], cn: [] as string[] };
  for (const [kind, value] of alternativeNames(certificate.subjectAltName ?? '')) {
    if (kind === 'URI') names.uri.push(value);
    else if (kind === 'DNS') names.dns.push(value);
  }
  for (const line of certificate.subject?.split('\n') ?? []) if (line.startsWith('CN=')) names.cn.push(line.slice(3));
  return names;
}

/** Node writes `DNS:a, URI:"x, y"`: values that hold a comma or a quote are JSON strings (CVE-2021-44532). */
function* alternativeNames(text: string): Generator<[kind: string, value: string]> {
  for (const [, kind = '', quoted, bare = ''] of text.matchAll(
    /(?:^|, )([A-Za-z ]+):(?:("(?:[^"\\]|\\.)*")|([^,]*))/g,
  )) {
    yield [kind, quoted === undefined ? bare : (JSON.parse(quoted) as string)];
  }
}

function matches(pattern: string, name: string): boolean {
  const source = pattern
    .split('*')
    .map((part) => part.replaceAll(/[\\^$.|?+()[\]{}]/g, '\\$&'))
    .join('[^/]*');
  return new RegExp(`^${source}$`, 's').test(name);
}

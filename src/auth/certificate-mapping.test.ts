import type { X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Tenant } from '../core/callers/principal.ts';
import { type CertificateRule, identifyCertificate } from './certificate-mapping.ts';

const rule = (field: 'uri' | 'dns' | 'cn', pattern: string, tenant: string): CertificateRule => ({
  name: tenant,
  uri: undefined,
  dns: undefined,
  cn: undefined,
  [field]: pattern,
  tenant: tenant as Tenant,
  role: 'read',
});

const certificate = (subjectAltName: string | undefined, subject = 'CN=nobody'): X509Certificate =>
  ({ subjectAltName, subject }) as X509Certificate;

const rules = [
  rule('cn', 'alice', 'by-cn'),
  rule('dns', '*.desk.example', 'by-dns'),
  rule('uri', 'spiffe://example.org/desk/*', 'by-uri'),
];

test.each([
  [
    'its URI before all others',
    certificate('DNS:a.desk.example, URI:spiffe://example.org/desk/ann', 'CN=alice'),
    'by-uri',
  ],
  ['its DNS name before its common name', certificate('DNS:a.desk.example', 'O=x\nCN=alice'), 'by-dns'],
  ['its common name', certificate(undefined, 'O=x\nCN=alice'), 'by-cn'],
])('a certificate is known by %s', (_, given, tenant) => {
  expect(identifyCertificate(given, rules)?.tenant).toBe(tenant);
});

test.each([
  ['a URI with one more segment', certificate('URI:spiffe://example.org/desk/ann/x')],
  ['a name in other case', certificate(undefined, 'CN=Alice')],
  ['a name that only begins so', certificate(undefined, 'CN=alice2')],
  ['a quoted value that holds another name', certificate('URI:"http://x, DNS:a.desk.example"')],
  ['a name with a line end', certificate('DNS:a.desk.example\\nx')],
  ['no name at all', certificate(undefined, '')],
])('a certificate with %s is nobody', (_, given) => {
  expect(identifyCertificate(given, rules)).toBeUndefined();
});

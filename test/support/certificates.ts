import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';

export interface CertificateOptions {
  readonly cn: string;
  readonly dns?: readonly string[];
  /** IPv4. */
  readonly ip?: readonly string[];
  readonly uri?: readonly string[];
  /** From now on; negative for an expired one. Default: a day. */
  readonly daysLeft?: number;
}

export interface Certificate {
  /** As PEM. */
  readonly cert: string;
  readonly key: string;
  readonly serial: Buffer;
}

export interface Authority {
  /** As PEM. */
  readonly cert: string;
  issue(options: CertificateOptions): Certificate;
  /** Its revocation list, as PEM. */
  revoke(certificates: readonly Certificate[], options?: { readonly daysLeft?: number }): string;
}

const dayMs = 86_400_000;
const oids = {
  commonName: '2.5.4.3',
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyId: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
} as const;

/** Makes certificates of servers and clients, with nothing but Node: a machine may have no OpenSSL. */
export function certificateAuthority(cn = 'Framehold test authority'): Authority {
  const keys = makeKeys();
  const issuer = { name: nameOf(cn), key: keys.privateKey, keyId: keyIdOf(keys.publicKey) };
  const { cert } = makeCertificate({ cn, daysLeft: 30 }, keys, issuer, true);
  return {
    cert,
    issue: (options) => makeCertificate(options, makeKeys(), issuer, false),
    revoke: (certificates, { daysLeft = 1 } = {}) => makeRevocationList(certificates, daysLeft, issuer),
  };
}

/** A certificate without an authority. */
export function selfSignedCertificate(options: CertificateOptions): Certificate {
  const keys = makeKeys();
  const issuer = { name: nameOf(options.cn), key: keys.privateKey, keyId: keyIdOf(keys.publicKey) };
  return makeCertificate(options, keys, issuer, true);
}

interface Keys {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

interface Issuer {
  readonly name: Buffer;
  readonly key: KeyObject;
  readonly keyId: Buffer;
}

function makeKeys(): Keys {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

/** RFC 5280. */
function makeCertificate(
  { cn, dns = [], ip = [], uri = [], daysLeft = 1 }: CertificateOptions,
  { publicKey, privateKey }: Keys,
  issuer: Issuer,
  isAuthority: boolean,
): Certificate {
  // Positive, and without a zero in front.
  const serial = Buffer.concat([Buffer.from([0x4f]), randomBytes(15)]);
  const names = [
    ...dns.map((name) => tlv(0x82, Buffer.from(name))),
    ...uri.map((name) => tlv(0x86, Buffer.from(name))),
    ...ip.map((address) => tlv(0x87, bytesOfIp(address))),
  ];
  const from = Date.now() + Math.min(0, daysLeft - 1) * dayMs - dayMs;
  const body = sequence(
    tlv(0xa0, integer(Buffer.from([2]))),
    integer(serial),
    signatureAlgorithm,
    issuer.name,
    sequence(time(from), time(Date.now() + daysLeft * dayMs)),
    nameOf(cn),
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(
      0xa3,
      sequence(
        extension(oids.subjectKeyId, octets(keyIdOf(publicKey))),
        extension(oids.authorityKeyId, sequence(tlv(0x80, issuer.keyId))),
        ...(isAuthority
          ? [
              extension(oids.basicConstraints, sequence(tlv(0x01, Buffer.from([0xff]))), true),
              // digitalSignature, keyCertSign, cRLSign
              extension(oids.keyUsage, tlv(0x03, Buffer.from([1, 0x86])), true),
            ]
          : [
              extension(oids.keyUsage, tlv(0x03, Buffer.from([7, 0x80])), true),
              extension(oids.extendedKeyUsage, sequence(oid(oids.serverAuth), oid(oids.clientAuth))),
            ]),
        ...(names.length === 0 ? [] : [extension(oids.subjectAltName, sequence(...names))]),
      ),
    ),
  );
  return {
    cert: pem('CERTIFICATE', signed(body, issuer.key)),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    serial,
  };
}

function makeRevocationList(certificates: readonly Certificate[], daysLeft: number, issuer: Issuer): string {
  const revoked = certificates.map(({ serial }) => sequence(integer(serial), time(Date.now() - 2 * dayMs)));
  const body = sequence(
    integer(Buffer.from([1])),
    signatureAlgorithm,
    issuer.name,
    time(Date.now() + Math.min(0, daysLeft - 1) * dayMs - dayMs),
    time(Date.now() + daysLeft * dayMs),
    ...(revoked.length === 0 ? [] : [sequence(...revoked)]),
    tlv(0xa0, sequence(extension(oids.authorityKeyId, sequence(tlv(0x80, issuer.keyId))))),
  );
  return pem('X509 CRL', signed(body, issuer.key));
}

function signed(body: Buffer, key: KeyObject): Buffer {
  return sequence(body, signatureAlgorithm, bits(sign('sha256', body, key)));
}

function pem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}

function nameOf(cn: string): Buffer {
  return sequence(tlv(0x31, sequence(oid(oids.commonName), tlv(0x0c, Buffer.from(cn)))));
}

function keyIdOf(key: KeyObject): Buffer {
  return createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest();
}

function bytesOfIp(address: string): Buffer {
  if (!isIPv4(address)) throw new Error(`${address} is not an IPv4 address`);
  return Buffer.from(address.split('.').map(Number));
}

function extension(id: string, value: Buffer, isCritical = false): Buffer {
  return sequence(oid(id), ...(isCritical ? [tlv(0x01, Buffer.from([0xff]))] : []), octets(value));
}

/** DER: tag, length, value. */
function tlv(tag: number, ...values: readonly Buffer[]): Buffer {
  const value = Buffer.concat(values);
  const length =
    value.length < 0x80
      ? [value.length]
      : value.length < 0x100
        ? [0x81, value.length]
        : [0x82, value.length >> 8, value.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), value]);
}

function sequence(...values: readonly Buffer[]): Buffer {
  return tlv(0x30, ...values);
}

function integer(bytes: Buffer): Buffer {
  return tlv(0x02, bytes);
}

function octets(bytes: Buffer): Buffer {
  return tlv(0x04, bytes);
}

function bits(bytes: Buffer): Buffer {
  return tlv(0x03, Buffer.from([0]), bytes);
}

function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replaceAll(/\D/g, '').slice(2, 14);
  return tlv(0x17, Buffer.from(`${digits}Z`));
}

function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number);
  const bytes = [40 * first + second];
  for (const part of rest) {
    const groups = [part & 0x7f];
    for (let left = part >> 7; left > 0; left >>= 7) groups.unshift((left & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return tlv(0x06, Buffer.from(bytes));
}

const signatureAlgorithm = sequence(oid(oids.ecdsaWithSha256));

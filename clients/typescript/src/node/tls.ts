import { isIP } from 'node:net';
import { type ConnectionOptions, checkServerIdentity, createSecureContext } from 'node:tls';
import { ConnectionError } from '../errors.ts';
import type { Hints } from './hints.ts';

/** Trusted authorities and the client's certificate, as PEM. */
export interface ClientTls {
  /** Undefined: the authorities that Node.js trusts. */
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/** Reason for which these cannot be used. `names`: their names in messages. */
export function tlsProblem(
  { ca, cert, key }: ClientTls,
  names: Readonly<Record<keyof ClientTls, string>> = { ca: 'ca', cert: 'cert', key: 'key' },
): string | undefined {
  if ((cert === undefined) !== (key === undefined)) {
    const [given, missing] = cert === undefined ? [names.key, names.cert] : [names.cert, names.key];
    return `${given} is set without ${missing}; set both, or neither`;
  }
  if (ca !== undefined && !isUsable({ ca })) return `${names.ca} holds no certificate in PEM form`;
  if (cert === undefined || isUsable({ cert, key })) return undefined;
  return `${names.cert} and ${names.key} are not a certificate and its key in PEM form`;
}

function isUsable(options: ClientTls): boolean {
  try {
    createSecureContext(options);
    return options.ca === undefined || /-----BEGIN (TRUSTED |X509 )?CERTIFICATE-----/.test(options.ca);
  } catch {
    return false;
  }
}

/** The certificate must be of this host, for any address of the connection. */
export function verifiedAs(host: string): ConnectionOptions {
  return {
    servername: isIP(host) === 0 ? host : '',
    checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate),
  };
}

const untrusted = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
]);

/** Alerts of a server that asks for a certificate: of TLS 1.3, and of 1.2, which has no name for it. */
const certificateAsked = new Set([
  'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
  'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE',
  'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE',
]);

/** Undefined for other failures than those of TLS. */
export function tlsFailure(address: string, error: NodeJS.ErrnoException, hints: Hints): ConnectionError | undefined {
  const { code = '' } = error;
  const failure = (message: string, hint: string): ConnectionError =>
    new ConnectionError('unreachable', message, { hint, cause: error });
  if (untrusted.has(code)) {
    return failure(`the certificate of ${address} is not signed by an authority that is trusted here`, hints.authority);
  }
  if (certificateAsked.has(code)) return failure(`${address} asks for a client certificate`, hints.certificate);
  switch (code) {
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return failure(`the certificate of ${address} is of another host`, `it has ${namesOf(error)}`);
    case 'CERT_HAS_EXPIRED':
      return failure(`the certificate of ${address} has ended`, 'let the operator of the server renew it');
    case 'CERT_NOT_YET_VALID':
      return failure(`the certificate of ${address} is not valid yet`, 'check the clocks of both machines');
    case 'EPROTO':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
      return failure(
        `${address} does not speak TLS as expected: ${error.message.split(':').at(-2) ?? code}`,
        'does it need http:// instead of https://?',
      );
    default:
      return undefined;
  }
}

function namesOf(error: Error): string {
  const { cert } = error as { readonly cert?: { readonly subjectaltname?: string } };
  return cert?.subjectaltname?.slice(0, 200) ?? 'no name';
}

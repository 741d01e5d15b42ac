import { isLoopback } from '../core/callers/loopback.ts';
import { isRole, isTenant, type Role, type Tenant } from '../core/callers/principal.ts';
import { type NamedSetting, required, type ValuesOf } from './setting.ts';
import type * as type from './setting-type.ts';

/** Only algorithms that verify with a public key: with a shared secret every verifier could sign. */
const signatureAlgorithms = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ');

const algorithms: type.SettingType<readonly string[]> = {
  placeholder: 'algorithms',
  accepts: `some of ${signatureAlgorithms.join(', ')}, separated by commas`,
  unit: 'list of algorithms',
  toml: ['list', 'string'],
  parse: (text) => {
    const list = text.split(',').map((each) => each.trim());
    return list.every((each) => signatureAlgorithms.includes(each)) ? list : undefined;
  },
};

/** Keys that were changed on their way would let anybody in. */
const issuerUrl: type.SettingType<string> = {
  placeholder: 'url',
  accepts: 'a URL with https, or with http on this machine itself, such as https://login.example.com',
  unit: 'URL',
  toml: ['string'],
  parse: (text) => {
    if (!URL.canParse(text)) return undefined;
    const { protocol, hostname, username, password } = new URL(text);
    if (username !== '' || password !== '') return undefined;
    return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname)) ? text : undefined;
  },
};

const words: type.SettingType<string> = {
  placeholder: 'text',
  accepts: 'a text',
  unit: 'text',
  toml: ['string'],
  parse: (text) => text,
};

const claim: type.SettingType<string> = {
  ...words,
  placeholder: 'claim',
  accepts: 'the name of a claim, with dots on the way into objects',
  unit: 'name of a claim',
};

export const tenant: type.SettingType<Tenant> = {
  placeholder: 'tenant',
  accepts: 'the name of a tenant: small letters, digits, _ and -',
  unit: 'name of a tenant',
  toml: ['string'],
  parse: (text) => (isTenant(text) ? text : undefined),
};

const role: type.SettingType<Role> = {
  placeholder: 'role',
  accepts: 'one of read, write, admin, operator',
  unit: 'read, write, admin, operator',
  toml: ['string'],
  parse: (text) => (isRole(text) ? text : undefined),
};

const roleMap: type.SettingType<ReadonlyMap<string, Role>> = {
  placeholder: 'value=role',
  accepts: 'values of the claim, each with one of read, write, admin, operator: { quants = "write", heads = "admin" }',
  unit: 'table of roles; elsewhere value=role,value=role',
  toml: ['table', 'string'],
  parse: (text) => {
    const entries = text.startsWith('{') ? Object.entries(JSON.parse(text) as Record<string, string>) : pairs(text);
    const map = new Map<string, Role>();
    for (const [value, given] of entries) {
      if (value === '' || !isRole(given)) return undefined;
      map.set(value, given);
    }
    return map.size > 0 ? map : undefined;
  },
};

function pairs(text: string): [string, string][] {
  return text.split(',').map((pair) => {
    const equals = pair.lastIndexOf('=');
    return [pair.slice(0, Math.max(0, equals)).trim(), pair.slice(equals + 1).trim()];
  });
}

/** The accepted issuers of JWTs: every key of `[auth.issuers.<name>]`. */
export const issuerSettings = {
  issuer: {
    property: 'issuer',
    type: issuerUrl,
    default: required,
    example: 'https://login.example.com',
    help: 'What the claim `iss` must be, letter for letter; its keys are found by OpenID Connect discovery there',
  },
  audience: {
    property: 'audience',
    type: words,
    default: required,
    example: 'framehold',
    help: 'What the claim `aud` must hold',
  },
  jwks_url: {
    property: 'jwksUrl',
    type: issuerUrl,
    default: undefined,
    example: 'https://login.example.com/keys',
    help: 'Where its keys are; unset, discovery tells',
  },
  algorithms: {
    property: 'algorithms',
    type: algorithms,
    default: 'RS256,ES256,EdDSA',
    example: 'RS256,ES256,EdDSA',
    help: 'Signatures that are taken',
  },
  typ: {
    property: 'typ',
    type: words,
    default: undefined,
    example: 'at+jwt',
    help: 'What the header `typ` must be; unset, anything',
  },
  tenant: {
    property: 'tenant',
    type: tenant,
    default: undefined,
    example: 'research',
    help: 'Tenant of all its callers; this or `tenant_claim`',
  },
  tenant_claim: {
    property: 'tenantClaim',
    type: claim,
    default: undefined,
    example: 'team',
    help: 'Claim that names the tenant, which must have been made',
  },
  role_claim: {
    property: 'roleClaim',
    type: claim,
    default: 'roles',
    example: 'roles',
    help: 'Claim with the roles: a text or a list',
  },
  roles: {
    property: 'roles',
    type: roleMap,
    default: required,
    example: 'quants=write,heads=admin',
    help: 'Role of each value of that claim; of several the highest counts, without any there is no access',
  },
  console_client_id: {
    property: 'consoleClientId',
    type: words,
    default: undefined,
    example: 'framehold-console',
    help: 'Public client as which people log in to the console by the authorization code flow with PKCE; unset, they need a token',
  },
  console_scope: {
    property: 'consoleScope',
    type: words,
    default: 'openid',
    example: 'openid framehold',
    help: 'What that client asks for, so that the token has the claims above',
  },
} as const satisfies Record<string, NamedSetting>;

export type IssuerConfig = ValuesOf<typeof issuerSettings>;

const pattern: type.SettingType<string> = {
  placeholder: 'pattern',
  accepts: 'a name in which * stands for anything but /',
  unit: 'pattern',
  toml: ['string'],
  parse: (text) => text,
};

/** The callers of client certificates: every key of `[auth.certificates.<name>]`. */
export const certificateSettings = {
  uri: {
    property: 'uri',
    type: pattern,
    default: undefined,
    example: 'spiffe://example.com/research/*',
    help: 'A URI among the alternative names of the certificate; one of `uri`, `dns`, `cn`',
  },
  dns: {
    property: 'dns',
    type: pattern,
    default: undefined,
    example: '*.research.example.com',
    help: 'A DNS name among them',
  },
  cn: {
    property: 'cn',
    type: pattern,
    default: undefined,
    example: 'etl-*',
    help: 'The common name of its subject',
  },
  tenant: {
    property: 'tenant',
    type: tenant,
    default: required,
    example: 'research',
    help: 'Tenant of those who show such a certificate',
  },
  role: { property: 'role', type: role, default: required, example: 'read', help: 'Their role' },
} as const satisfies Record<string, NamedSetting>;

export type CertificateConfig = ValuesOf<typeof certificateSettings>;

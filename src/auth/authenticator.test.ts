import { X509Certificate } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TestIssuer } from '../../test/support/issuer.ts';
import { selfSigned } from '../../test/support/self-signed.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { defaultTenant, type Principal, type Role, type Tenant } from '../core/callers/principal.ts';
import { silentLogger } from '../core/logs/logger.ts';
import { DurableFiles } from '../frames/disk/durable-file.ts';
import { AccessRecords } from './access-records.ts';
import { Authenticator, type AuthenticatorOptions } from './authenticator.ts';
import { Issuer, type IssuerSettings } from './issuer.ts';
import { SessionTokens } from './session-tokens.ts';
import { generateToken } from './token.ts';

const desk = 'desk' as Tenant;
const noLimits = {
  maxBytes: undefined,
  maxFrames: undefined,
  maxStatements: undefined,
  maxRate: undefined,
  engines: [],
};

let directory: TemporaryDirectory;
let records: AccessRecords;
let idp: TestIssuer;

beforeEach(async () => {
  directory = await temporaryDirectory();
  records = await AccessRecords.open(directory.path, new DurableFiles());
  await records.createTenant(desk, noLimits);
  idp = await TestIssuer.start();
});

afterEach(async () => {
  idp.stop();
  await directory[Symbol.asyncDispose]();
});

function issuerOf(settings: Partial<IssuerSettings> = {}, maxStaleMs = 86_400_000): Issuer {
  return new Issuer(
    {
      name: 'corp',
      issuer: idp.url,
      audience: 'framehold',
      jwksUrl: undefined,
      algorithms: ['RS256', 'ES256', 'EdDSA'],
      typ: undefined,
      tenant: desk,
      tenantClaim: undefined,
      roleClaim: 'groups',
      roles: new Map<string, Role>([
        ['quants', 'write'],
        ['leads', 'admin'],
        ['all', 'read'],
      ]),
      consoleClientId: undefined,
      consoleScope: 'openid',
      ...settings,
    },
    { maxStaleMs, logger: silentLogger },
  );
}

function authenticator(options: Partial<AuthenticatorOptions> = {}): Authenticator {
  return new Authenticator({
    records,
    issuers: [issuerOf()],
    certificates: [],
    sessions: new SessionTokens(directory.path, new DurableFiles()),
    anonymousTenant: undefined,
    ...options,
  });
}

async function identify(
  auth: Authenticator,
  authorization?: string,
  more: Record<string, string> = {},
): Promise<Principal> {
  return auth.identify({ headers: { authorization, ...more }, address: '::1' });
}

const token = (role: Role, tenant: Tenant | undefined = desk, expiresAt?: number) =>
  records.createToken({
    name: 'ci',
    tenant: role === 'operator' ? undefined : tenant,
    role,
    prefix: undefined,
    expiresAt,
  });

test('a token names its tenant and role, as Bearer and as password of Basic', async () => {
  const auth = authenticator();
  const made = await token('write');
  const principal = { tenant: 'desk', name: 'ci', role: 'write', credential: 'token', credentialId: made.record.id };
  expect(await identify(auth, `Bearer ${made.token}`)).toMatchObject(principal);
  const basic = Buffer.from(`anyone:${made.token}`).toString('base64');
  expect(await identify(auth, `Basic ${basic}`)).toMatchObject(principal);
});

test('a known token is told at once, and no longer when it was revoked or has expired', async () => {
  let now = 0;
  const auth = authenticator({ now: () => now });
  const [made, short] = [await token('read'), await token('read', desk, 1000)];
  await identify(auth, `Bearer ${made.token}`);
  await identify(auth, `Bearer ${short.token}`);
  expect(auth.identify({ headers: { authorization: `Bearer ${made.token}` }, address: '' })).not.toBeInstanceOf(
    Promise,
  );
  await records.revokeToken(made.record.id);
  await expect(identify(auth, `Bearer ${made.token}`)).rejects.toThrow('unknown or revoked');
  now = 1000;
  await expect(identify(auth, `Bearer ${short.token}`)).rejects.toThrow(
    'the token expired at 1970-01-01T00:00:01.000Z',
  );
});

test('a token that is revoked while it is verified is not remembered', async () => {
  const made = await token('read');
  const slow = Object.create(records) as AccessRecords;
  slow.onChange = (listener) => records.onChange(listener);
  slow.hasTenant = (tenant) => records.hasTenant(tenant);
  slow.limitsOf = (tenant) => records.limitsOf(tenant);
  slow.noteUse = () => {};
  slow.findToken = async (secret) => {
    const found = await records.findToken(secret);
    await records.revokeToken(made.record.id);
    return found;
  };
  const auth = authenticator({ records: slow });
  await identify(auth, `Bearer ${made.token}`);
  slow.findToken = (secret) => records.findToken(secret);
  await expect(identify(auth, `Bearer ${made.token}`)).rejects.toThrow('unknown or revoked');
});

test.each([
  ['nothing', undefined, 'no credentials were sent'],
  ['a cut token', 'Bearer fh_abc', 'mistyped or cut'],
  ['an unknown token', `Bearer ${generateToken()}`, 'unknown or revoked'],
  ['an empty token', 'Bearer', 'neither a token of this server nor a JWT'],
  ['some text', 'Bearer hello', 'neither a token'],
  ['three words of text', 'Bearer a.b.c', 'an issuer that is not known'],
  ['a megabyte', `Bearer ${'x'.repeat(1_000_000)}`, 'neither a token'],
])('%s is refused as unauthenticated, with a reason', async (_, authorization, words) => {
  await expect(identify(authenticator(), authorization)).rejects.toMatchObject({
    code: 'unauthenticated',
    message: expect.stringContaining(words),
    hint: expect.any(String),
  });
});

test('strangers are who the operator says, if anybody', async () => {
  const anonymous: Principal = { tenant: desk, name: 'anonymous', role: 'read', credential: 'anonymous' };
  expect(await identify(authenticator({ anonymousTenant: desk }))).toMatchObject(anonymous);
  await expect(identify(authenticator({ anonymousTenant: desk }), `Bearer ${generateToken()}`)).rejects.toThrow(
    'unknown or revoked',
  );
});

test('a token of a tenant that another server has removed is refused before this one has looked for changes', async () => {
  const made = await token('read');
  // Servers read the token's record at its first use.
  const auth = authenticator({ records: await AccessRecords.open(directory.path, new DurableFiles()) });
  await rm(join(directory.path, '.framehold', 'access', 'tenants', 'desk.json'));
  await expect(identify(auth, `Bearer ${made.token}`)).rejects.toMatchObject({ code: 'unauthenticated' });
});

test('an operator acts in the tenant that the header names, and nobody else does', async () => {
  const auth = authenticator();
  const [operator, admin] = [await token('operator'), await token('admin')];
  const into = { 'x-framehold-tenant': 'desk' };
  expect(await identify(auth, `Bearer ${operator.token}`)).toMatchObject({ tenant: defaultTenant, role: 'operator' });
  expect(await identify(auth, `Bearer ${operator.token}`, into)).toMatchObject({ tenant: 'desk', role: 'operator' });
  await expect(identify(auth, `Bearer ${operator.token}`, { 'x-framehold-tenant': 'no' })).rejects.toThrow(
    'no tenant "no"',
  );
  expect(await identify(auth, `Bearer ${admin.token}`, into)).toMatchObject({ tenant: 'desk' });
  await expect(identify(auth, `Bearer ${admin.token}`, { 'x-framehold-tenant': 'default' })).rejects.toMatchObject({
    code: 'forbidden',
  });
});

test('a JWT of a configured issuer has the highest of its roles', async () => {
  const auth = authenticator();
  const jwt = await idp.sign({ groups: ['all', 'leads', 'quants', 'unknown'] });
  expect(await identify(auth, `Bearer ${jwt}`)).toMatchObject({
    tenant: 'desk',
    role: 'admin',
    name: 'corp:ann',
    credential: 'jwt',
  });
  expect(auth.identify({ headers: { authorization: `Bearer ${jwt}` }, address: '' })).not.toBeInstanceOf(Promise);
});

const seconds = (later: number) => Math.floor(Date.now() / 1000) + later;

test.each([
  ['another audience', { aud: 'other' }, {}, 'claim aud'],
  ['an end in the past', { exp: seconds(-120) }, {}, 'has expired'],
  ['no end', { exp: undefined }, {}, 'claim exp'],
  ['a begin in the future', { nbf: seconds(600) }, {}, 'claim nbf'],
  ['no subject', { sub: undefined }, {}, 'claim sub'],
  ['an unknown key', {}, { kid: 'k9' }, 'signature or form'],
])('a JWT with %s is refused', async (_, claims, header, words) => {
  await expect(identify(authenticator(), `Bearer ${await idp.sign(claims, header)}`)).rejects.toMatchObject({
    code: 'unauthenticated',
    message: expect.stringContaining(words),
  });
});

test('a JWT without signature, or signed by the public key as a secret, is refused', async () => {
  const auth = authenticator();
  const [, payload, signature] = (await idp.sign()).split('.');
  const header = (alg: string) => Buffer.from(JSON.stringify({ alg, kid: 'k1' })).toString('base64url');
  await expect(identify(auth, `Bearer ${header('none')}.${payload}.`)).rejects.toMatchObject({
    code: 'unauthenticated',
  });
  await expect(identify(auth, `Bearer ${header('HS256')}.${payload}.${signature}`)).rejects.toMatchObject({
    code: 'unauthenticated',
  });
});

test('a good JWT that is mapped to no role, no tenant or one that was not made is forbidden', async () => {
  await expect(identify(authenticator(), `Bearer ${await idp.sign({ groups: ['x'] })}`)).rejects.toThrow(
    'gives no role',
  );
  const byClaim = authenticator({ issuers: [issuerOf({ tenant: undefined, tenantClaim: 'team' })] });
  await expect(identify(byClaim, `Bearer ${await idp.sign()}`)).rejects.toThrow('gives no tenant');
  await expect(identify(byClaim, `Bearer ${await idp.sign({ team: '../desk' })}`)).rejects.toThrow('gives no tenant');
  await expect(identify(byClaim, `Bearer ${await idp.sign({ team: 'nobody' })}`)).rejects.toThrow(
    'its tenant is not made here',
  );
  expect(await identify(byClaim, `Bearer ${await idp.sign({ team: 'desk' })}`)).toMatchObject({ tenant: 'desk' });
});

test('a JWT that was verified is verified anew after ten minutes', async () => {
  let verified = 0;
  const issuer = issuerOf();
  const counting = {
    issuer: idp.url,
    verify: (jwt: string) => {
      verified += 1;
      return issuer.verify(jwt);
    },
  };
  let now = Date.now();
  const auth = authenticator({ issuers: [counting], now: () => now });
  const jwt = await idp.sign();
  for (const [laterMinutes, verifications] of [
    [0, 1],
    [9, 1],
    [2, 2],
  ] as const) {
    now += laterMinutes * 60_000;
    await identify(auth, `Bearer ${jwt}`);
    expect(verified).toBe(verifications);
  }
});

test('while the issuer is down its keys are used on; without keys the answer is auth_unavailable', async () => {
  const auth = authenticator();
  await identify(auth, `Bearer ${await idp.sign()}`);
  idp.fault = 'down';
  expect(await identify(auth, `Bearer ${await idp.sign({ jti: '2' })}`)).toMatchObject({ tenant: 'desk' });
  const cold = authenticator({ issuers: [issuerOf()] });
  await expect(identify(cold, `Bearer ${await idp.sign({ jti: '3' })}`)).rejects.toMatchObject({
    code: 'auth_unavailable',
    retryAfterSeconds: 30,
  });
  const made = await token('read');
  expect(await identify(cold, `Bearer ${made.token}`)).toMatchObject({ credential: 'token' });
});

test('unknown keys cause one fetch in thirty seconds at most', async () => {
  const auth = authenticator();
  await identify(auth, `Bearer ${await idp.sign()}`);
  for (let n = 0; n < 20; n++) {
    await identify(auth, `Bearer ${await idp.sign({ n }, { kid: `k${n + 2}` })}`).catch(() => {});
  }
  expect(idp.fetches).toBe(1);
});

test('an issuer whose discovery names another issuer has no keys', async () => {
  idp.fault = 'anotherIssuer';
  await expect(identify(authenticator(), `Bearer ${await idp.sign()}`)).rejects.toMatchObject({
    code: 'auth_unavailable',
  });
});

test('a certificate names its holder, one that is mapped to nobody is forbidden, and a token beside it counts', async () => {
  const certificate = new X509Certificate(selfSigned(directory.path).cert);
  const rule = { name: 'r', uri: undefined, dns: 'local*', cn: undefined, tenant: desk, role: 'read' } as const;
  const mapped = authenticator({ certificates: [rule] });
  const caller = (authorization?: string) => ({ headers: { authorization }, address: '', certificate });
  expect(await mapped.identify(caller())).toMatchObject({
    tenant: 'desk',
    name: 'localhost',
    credential: 'certificate',
  });
  await expect(authenticator().identify(caller())).rejects.toMatchObject({ code: 'forbidden' });
  const [same, other] = [await token('write'), await token('write', defaultTenant)];
  expect(await authenticator().identify(caller(`Bearer ${same.token}`))).toMatchObject({ credential: 'token' });
  expect(await mapped.identify(caller(`Bearer ${same.token}`))).toMatchObject({ role: 'write', credential: 'token' });
  await expect(mapped.identify(caller(`Bearer ${other.token}`))).rejects.toThrow('of different tenants');
  // Also once the token is cached.
  expect(() => mapped.identify(caller(`Bearer ${other.token}`))).toThrow('of different tenants');
});

import { status } from '@grpc/grpc-js';
import { SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FlightClient, gather } from '../support/flight-client.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { type Answer, ask } from '../support/http-client.ts';
import { TestIssuer } from '../support/issuer.ts';

let issuer: TestIssuer;
/** Whose claims name the tenant. */
let byOrg: TestIssuer;
let server: Framehold;
let flight: FlightClient;

beforeAll(async () => {
  issuer = await TestIssuer.start();
  byOrg = await TestIssuer.start();
  server = await startFramehold({
    toml: `[auth]
enabled = true
max_failed_logins = 1000
[auth.issuers.byorg]
issuer = "${byOrg.url}"
audience = "framehold"
tenant_claim = "org"
role_claim = "groups"
roles = { all = "read" }
[auth.issuers.corp]
issuer = "${issuer.url}"
audience = "framehold"
tenant = "default"
role_claim = "groups"
roles = { quants = "write", heads = "admin", all = "read" }
`,
  });
  flight = new FlightClient(server.grpcAddress.port);
});

afterAll(async () => {
  flight[Symbol.dispose]();
  await server[Symbol.asyncDispose]();
  issuer.stop();
  byOrg.stop();
});

function as(jwt: string, path: string, more: { method?: string; body?: string } = {}): Promise<Answer> {
  return ask(`${server.url}${path}`, { ...more, headers: { authorization: `Bearer ${jwt}` } });
}

test('a JWT of a configured issuer names the caller by section and subject, with the highest of its roles', async () => {
  expect((await as(await issuer.sign({ groups: ['all', 'quants'] }), '/whoami')).json()).toMatchObject({
    tenant: 'default',
    name: 'corp:ann',
    role: 'write',
    credential: 'jwt',
    expires: expect.any(String),
  });
});

test('a JWT is taken as password of Basic, and a handshake gives it back', async () => {
  const jwt = await issuer.sign();
  const authorization = `Basic ${Buffer.from(`token:${jwt}`).toString('base64')}`;
  expect((await ask(`${server.url}/whoami`, { headers: { authorization } })).status).toBe(200);
  const call = flight.handshake({ authorization });
  const answer = gather(call);
  call.end();
  expect((await answer).headers.get('authorization')).toEqual([`Bearer ${jwt}`]);
  expect((await flight.list('', { authorization: `Bearer ${jwt}` })).status.code).toBe(status.OK);
});

test.each([9e15, 1e308])('an end in the far future (%d) is taken for the last day that there is', async (exp) => {
  expect((await as(await issuer.sign({ exp }), '/whoami')).json()).toMatchObject({
    expires: '+275760-09-13T00:00:00.000Z',
  });
});

test('its role counts: read may not put, write may', async () => {
  const put = { method: 'POST', body: 'a\n1\n' };
  const refused = await as(await issuer.sign({ groups: ['all'] }), '/imp?name=t', put);
  expect([refused.status, refused.json().error]).toEqual([403, 'this needs the role write; yours is read']);
  expect((await as(await issuer.sign({ groups: ['quants'] }), '/imp?name=t', put)).status).toBe(200);
});

const now = Math.floor(Date.now() / 1000);
const otherKey = async () => {
  const other = await TestIssuer.start();
  try {
    return await other.sign({ iss: issuer.url });
  } finally {
    other.stop();
  }
};

const unsigned = async () => new UnsecuredJWT({ iss: issuer.url }).encode();
const signedWithSecret = () =>
  new SignJWT({ iss: issuer.url }).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.alloc(32));

test.each([
  ['expired', () => issuer.sign({ exp: now - 120 }), 'the token has expired'],
  ['not yet good', () => issuer.sign({ nbf: now + 600 }), 'its claim nbf is not'],
  ['for another audience', () => issuer.sign({ aud: 'other' }), 'its claim aud is not'],
  ['without audience', () => issuer.sign({ aud: undefined }), 'its claim aud is not'],
  ['without subject', () => issuer.sign({ sub: undefined }), 'its claim sub is not'],
  ['with a number as subject', () => issuer.sign({ sub: 5 }), 'its claim sub is not'],
  ['with a list as subject', () => issuer.sign({ sub: ['ann'] }), 'its claim sub is not'],
  ['with an empty subject', () => issuer.sign({ sub: '' }), 'its claim sub is not'],
  ['with a subject of several lines', () => issuer.sign({ sub: 'a\nb' }), 'its claim sub is not'],
  ['without an end', () => issuer.sign({ exp: undefined }), 'its claim exp is not'],
  ['of an issuer that is not known', () => issuer.sign({ iss: 'https://evil.example' }), 'an issuer that is not known'],
  ['unsigned (alg none)', unsigned, 'its algorithm none is not among those of issuer corp'],
  ['signed with a shared secret', signedWithSecret, 'its algorithm HS256 is not among those of issuer corp'],
  ['signed with another key', otherKey, 'its signature or form'],
  ['cut', async () => (await issuer.sign()).slice(0, -10), 'its signature or form'],
  ['of which a letter is changed', async () => (await issuer.sign()).replace(/\.(.)/, '.x$1'), 'refused|not known'],
])('a JWT that is %s is 401 with its reason', async (_, make, reason) => {
  const jwt = await make();
  const answer = await as(jwt, '/handles');
  expect([answer.status, answer.json().code]).toEqual([401, 'unauthenticated']);
  expect(answer.json().error).toMatch(new RegExp(reason));
  expect(answer.headers['www-authenticate']).toContain('error="invalid_token"');
  const { status: ended } = await flight.list('', { authorization: `Bearer ${jwt}` });
  expect([ended.code, ended.details]).toEqual([status.UNAUTHENTICATED, expect.stringMatching(new RegExp(reason))]);
});

test('a good JWT without a role here is 403', async () => {
  const answer = await as(await issuer.sign({ groups: ['guests'] }), '/handles');
  expect([answer.status, answer.json().error]).toEqual([
    403,
    'the token of issuer corp is good, but gives no role here',
  ]);
});

test('the hint for a JWT of another algorithm names those that are taken', async () => {
  expect((await as(await signedWithSecret(), '/handles')).json().hint).toBe(
    'let the issuer sign with RS256 or ES256 or EdDSA, or the operator add the algorithm to [auth.issuers.corp]',
  );
});

test.each([
  [{ groups: ['all', 5] }, 'no role'],
  [{ groups: ['all', null] }, 'no role'],
  [{ org: ['default', 5] }, 'no tenant'],
  [{ org: ['default', null] }, 'no tenant'],
  [{ org: ['default', 'acme'] }, 'no tenant'],
  [{ org: ['default'] }, undefined],
])('of a claim %j that is no text or list of texts nothing is taken', async (claims, problem) => {
  const answer = await as(
    await byOrg.sign({ aud: 'framehold', groups: ['all'], org: 'default', ...claims }),
    '/handles',
  );
  expect([answer.status, answer.json().error]).toEqual(
    problem === undefined ? [200, undefined] : [403, `the token of issuer byorg is good, but gives ${problem} here`],
  );
});

test('the keys are fetched once for many JWTs, and outlast the issuer', async () => {
  for (let i = 0; i < 20; i++) expect((await as(await issuer.sign({ jti: String(i) }), '/whoami')).status).toBe(200);
  issuer.fault = 'down';
  expect((await as(await issuer.sign({ jti: 'later' }), '/whoami')).status).toBe(200);
  issuer.fault = undefined;
  expect(issuer.fetches).toBe(1);
});

test('info tells strangers that JWTs are taken', async () => {
  expect((await ask(`${server.url}/info`)).json()).toMatchObject({ credentials: ['token', 'jwt'] });
});

test('while the keys of an issuer cannot be had, its JWTs are 503 and all else works', async () => {
  const down = await TestIssuer.start();
  down.fault = 'down';
  await using closed = await startFramehold({
    toml: `[auth]\nenabled = true\nanonymous = "default:read"\n[auth.issuers.corp]\nissuer = "${down.url}"\naudience = "framehold"\ntenant = "default"\nroles = { a = "read" }`,
  });
  const answer = await ask(`${closed.url}/handles`, { headers: { authorization: `Bearer ${await down.sign()}` } });
  expect([answer.status, answer.json().code, answer.headers['retry-after']]).toEqual([503, 'auth_unavailable', '30']);
  expect((await ask(`${closed.url}/handles`)).status).toBe(200);
  down.stop();
});

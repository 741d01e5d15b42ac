import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask } from '../support/http-client.ts';
import { TestIssuer } from '../support/issuer.ts';
import { type SpawnedFramehold, spawnFramehold } from '../support/spawned-framehold.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

let directory: TemporaryDirectory;
let issuer: TestIssuer;
let server: SpawnedFramehold;

beforeAll(async () => {
  directory = await temporaryDirectory();
  issuer = await TestIssuer.start();
  const corp = {
    ISSUER: issuer.url,
    AUDIENCE: 'framehold',
    TENANT: 'default',
    ROLE_CLAIM: 'groups',
    ROLES: 'quants=write',
    CONSOLE_CLIENT_ID: 'framehold-console',
  };
  const env = Object.entries(corp).map(([key, value]) => [`FRAMEHOLD_AUTH_ISSUERS_CORP_${key}`, value]);
  server = await spawnFramehold({
    dataDir: directory.path,
    flags: ['--auth-enabled'],
    env: Object.fromEntries(env),
  });
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  issuer.stop();
  await directory[Symbol.asyncDispose]();
});

const info = async (headers = {}) => (await ask(`${server.url}/info`, { headers })).json();

test('strangers are told where people log in, and the page may send requests there and nowhere else', async () => {
  await expect.poll(info).toMatchObject({
    login: [
      {
        issuer: 'corp',
        client_id: 'framehold-console',
        scope: 'openid',
        authorization_endpoint: `${issuer.url}/authorize`,
        token_endpoint: `${issuer.url}/token`,
      },
    ],
  });
  expect(await info({ authorization: `Bearer ${await issuer.sign()}` })).not.toHaveProperty('login');
  const page = await ask(`${server.url}/`, { headers: { accept: 'text/html' } });
  expect(page.headers['content-security-policy']).toContain(`; connect-src 'self' ${issuer.url}; `);
  expect(page.headers['content-security-policy']).toContain("; form-action 'self'; ");
});

test('the code flow with PKCE gives a token that the server takes', async () => {
  await expect.poll(info).toHaveProperty('login');
  const [{ authorization_endpoint, token_endpoint, client_id, scope }] = (await info()).login as [
    Record<string, string>,
  ];
  const verifier = 'a-verifier-of-43-characters-or-more-as-RFC-7636-wants';
  const asked = new URLSearchParams({
    response_type: 'code',
    client_id: `${client_id}`,
    scope: `${scope}`,
    redirect_uri: `${server.url}/`,
    state: 'state',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const back = new URL(String((await ask(`${authorization_endpoint}?${asked}`)).headers.location));
  expect([back.origin, back.pathname, back.searchParams.get('state')]).toEqual([server.url, '/', 'state']);
  expect((await ask(back.href, { headers: { accept: 'text/html' } })).status).toBe(200);
  const answer = await fetch(`${token_endpoint}`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code: back.searchParams.get('code') ?? '',
      redirect_uri: `${server.url}/`,
      client_id: `${client_id}`,
      code_verifier: verifier,
    }),
  });
  const { id_token } = (await answer.json()) as { id_token: string };
  const who = await ask(`${server.url}/whoami`, { headers: { authorization: `Bearer ${id_token}` } });
  expect(who.json()).toMatchObject({ name: 'corp:ann', role: 'write' });
});

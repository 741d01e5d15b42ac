import { randomBytes } from 'node:crypto';
import { copyFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Tenant } from '../../src/core/callers/principal.ts';
import { type ClosedServer, startClosedServer } from '../support/closed-server.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

let closed: ClosedServer;
let operator: string;
let tokensFolder: string;
let sharesFolder: string;
const most = 1000;
const dayMs = 24 * 3600 * 1000;

beforeAll(async () => {
  closed = await startClosedServer();
  operator = closed.token('operator') ?? '';
  const folder = join(closed.server.dataDir, 'cold', '.framehold', 'access');
  tokensFolder = join(folder, 'tokens');
  sharesFolder = join(folder, 'shares');
});

afterAll(() => closed[Symbol.asyncDispose]());

async function makeTenant(name: string): Promise<void> {
  expect((await closed.as(operator, 'POST', '/tenants', JSON.stringify({ name }))).status).toBe(200);
}

function postToken(tenant: string, by = operator) {
  return closed.as(by, 'POST', '/tokens', JSON.stringify({ name: 'a', role: 'admin', tenant }));
}

/** More tokens like that one, as fast as files are copied. */
async function copyToken(id: string, copies: number): Promise<void> {
  const file = (await readdir(tokensFolder)).find((name) => name.startsWith(id)) ?? '';
  for (let n = 0; n < copies; n++) {
    await copyFile(join(tokensFolder, file), join(tokensFolder, `${randomBytes(32).toString('hex')}.json`));
  }
}

async function tokensOf(tenant: string): Promise<number> {
  const { tokens } = (await closed.as(operator, 'GET', '/tokens')).json() as { tokens: { tenant: string }[] };
  return tokens.filter((each) => each.tenant === tenant).length;
}

async function listedIds(): Promise<unknown[]> {
  const { tokens } = (await closed.as(operator, 'GET', '/tokens')).json() as { tokens: { id: string }[] };
  return tokens.map(({ id }) => id);
}

it('a token of a removed tenant is unknown in one that is made anew under the name, even while its record is still seen', async () => {
  await makeTenant('again');
  const old = (await postToken('again')).json() as { id: string; token: string };
  expect((await closed.as(old.token, 'GET', '/handles')).status).toBe(200);

  await using aside = await temporaryDirectory();
  const file = (await readdir(tokensFolder)).find((name) => name.startsWith(old.id)) ?? '';
  await copyFile(join(tokensFolder, file), join(aside.path, file));
  expect((await closed.as(operator, 'DELETE', '/tenants/again')).status).toBe(200);
  await makeTenant('again');
  await copyFile(join(aside.path, file), join(tokensFolder, file));
  await expect.poll(listedIds, { timeout: 5000 }).toContain(old.id);

  const refused = await closed.as(old.token, 'GET', '/handles');
  expect([refused.status, refused.json().error]).toEqual([401, 'the token is unknown or revoked']);
  const { token } = (await postToken('again')).json() as { token: string };
  expect((await closed.as(token, 'GET', '/handles')).status).toBe(200);
});

it('a tenant has at most 1,000 tokens, and other tenants have theirs all the same', async () => {
  await makeTenant('many');
  const { id, token } = (await postToken('many')).json() as { id: string; token: string };
  await copyToken(id, most - 3);
  await expect.poll(() => tokensOf('many'), { timeout: 5000 }).toBe(most - 2);

  const answers = await Promise.all(Array.from({ length: 5 }, () => postToken('many', token)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 507, 507, 507]);
  const refused = await postToken('many', token);
  expect([refused.status, refused.json()]).toEqual([
    507,
    expect.objectContaining({ code: 'quota_exceeded', error: 'the tenant many has 1000 tokens already' }),
  ]);
  expect((await closed.as(token, 'POST', `/tokens/${id}/rotate`, '{}')).json().code).toBe('quota_exceeded');
  expect((await closed.as(token, 'GET', '/handles')).status).toBe(200);
  await makeTenant('few');
  expect((await postToken('few')).status).toBe(200);

  expect((await closed.as(operator, 'DELETE', `/tokens/${id}`)).status).toBe(200);
  expect((await postToken('many')).status).toBe(200);
});

it('tokens that ended more than 30 days ago make room for new ones, later ones do not', async () => {
  await makeTenant('ended');
  const { id } = (await postToken('ended')).json() as { id: string };
  await closed.records.refresh();
  const ending = (days: number) =>
    closed.makeToken('read', { tenant: 'ended' as Tenant, expiresAt: Date.now() - days * dayMs });
  const [late, early] = [await ending(29), await ending(31)];
  await copyToken(late.record.id, 10);
  await copyToken(early.record.id, 5);
  await copyToken(id, most - 18);
  await expect.poll(() => tokensOf('ended'), { timeout: 5000 }).toBe(most);

  expect((await postToken('ended')).status).toBe(200);
  expect(await tokensOf('ended')).toBe(most - 6 + 1);
  expect(await listedIds()).toContain(late.record.id);
  expect(await listedIds()).not.toContain(early.record.id);
});

it('a frame is shared with at most 1,000 tenants', async () => {
  const admin = closed.token('admin');
  const share = (tenant: string, handle = 'wide') => closed.as(admin, 'PUT', `/handles/${handle}/shares/${tenant}`);
  for (const name of ['wide', 'other']) {
    expect((await closed.as(admin, 'POST', `/imp?name=${name}`, 'a\n1\n')).status).toBe(200);
  }
  expect((await share('t0')).status).toBe(200);
  for (let n = 1; n < most - 1; n++) {
    await copyFile(join(sharesFolder, 'default+wide+t0.json'), join(sharesFolder, `default+wide+t${n}.json`));
  }
  const shares = async () => {
    const answer = await closed.as(admin, 'GET', '/handles/wide/shares');
    return (answer.json() as { shares: unknown[] }).shares.length;
  };
  await expect.poll(shares, { timeout: 5000 }).toBe(most - 1);

  expect((await share('last')).status).toBe(200);
  const refused = await share('more');
  expect([refused.status, refused.json().error]).toEqual([507, 'wide is shared with 1000 tenants already']);
  expect((await share('t5')).status).toBe(200);
  expect((await share('more', 'other')).status).toBe(200);
  expect((await closed.as(admin, 'DELETE', '/handles/wide/shares/t5')).status).toBe(200);
  expect((await share('more')).status).toBe(200);
});

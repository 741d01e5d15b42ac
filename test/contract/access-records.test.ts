import { copyFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ClosedServer, startClosedServer } from '../support/closed-server.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

let closed: ClosedServer;
let operator: string;
let tokensFolder: string;

beforeAll(async () => {
  closed = await startClosedServer();
  operator = closed.token('operator') ?? '';
  tokensFolder = join(closed.server.dataDir, 'cold', '.framehold', 'access', 'tokens');
});

afterAll(() => closed[Symbol.asyncDispose]());

async function makeTenant(name: string): Promise<void> {
  expect((await closed.as(operator, 'POST', '/tenants', JSON.stringify({ name }))).status).toBe(200);
}

function postToken(tenant: string, by = operator) {
  return closed.as(by, 'POST', '/tokens', JSON.stringify({ name: 'a', role: 'admin', tenant }));
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

import { copyFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { type TemporaryDirectory, temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { defaultTenant, type Tenant } from '../core/callers/principal.ts';
import { parseHandle } from '../core/names/handle.ts';
import { DurableFiles } from '../frames/disk/durable-file.ts';
import { AccessRecords } from './access-records.ts';
import { noLimits } from './tenant-record.ts';
import { generateToken } from './token.ts';

const desk = 'desk' as Tenant;
const limits = { maxBytes: 1000, maxFrames: undefined, maxStatements: 2, maxRate: undefined, engines: ['tsdb'] };
let directory: TemporaryDirectory | undefined;

async function open(now?: () => number): Promise<AccessRecords> {
  directory ??= await temporaryDirectory();
  return AccessRecords.open(directory.path, new DurableFiles(), now);
}

afterEach(async () => {
  await directory?.[Symbol.asyncDispose]();
  directory = undefined;
});

test('a token is known by its secret to every process, and its secret is kept nowhere', async () => {
  const one = await open();
  const { token, record } = await one.createToken({
    name: 'ci',
    tenant: defaultTenant,
    role: 'write',
    prefix: 'ci.',
    expiresAt: undefined,
  });
  const other = await open();
  expect(await other.findToken(token)).toEqual(record);
  expect(await other.findToken(generateToken())).toBeUndefined();
  const folder = join(directory?.path ?? '', '.framehold', 'access', 'tokens');
  for (const name of await readdir(folder)) expect(await readFile(join(folder, name), 'utf8')).not.toContain(token);
});

test('a revoked token is unknown to another process after its next look', async () => {
  const [one, other] = [await open(), await open()];
  const { token, record } = await one.createToken({
    name: 'a',
    tenant: defaultTenant,
    role: 'read',
    prefix: undefined,
    expiresAt: undefined,
  });
  await other.refresh();
  expect(await other.findToken(token)).toEqual(record);
  let changes = 0;
  other.onChange(() => changes++);
  expect(await one.revokeToken(record.id)).toBe(true);
  await other.refresh();
  expect(await other.findToken(token)).toBeUndefined();
  expect(changes).toBe(1);
  expect(await one.revokeToken(record.id)).toBe(false);
});

test('a rotated token keeps its rights, and the old one ends after the overlap', async () => {
  let now = 1000;
  const records = await open(() => now);
  const old = await records.createToken({
    name: 'a',
    tenant: defaultTenant,
    role: 'admin',
    prefix: undefined,
    expiresAt: undefined,
  });
  now = 5000;
  const rotated = await records.rotateToken(old.record.id, 500);
  expect(rotated?.record).toMatchObject({ name: 'a', role: 'admin', createdAt: 5000, expiresAt: undefined });
  expect(await records.findToken(old.token)).toMatchObject({ expiresAt: 5500, createdAt: 1000 });
  expect(rotated?.token).not.toBe(old.token);
});

test('a rotated token lives as long from now on as the old one did from its beginning', async () => {
  let now = 1000;
  const records = await open(() => now);
  const token = { name: 'a', tenant: defaultTenant, role: 'read', prefix: undefined, expiresAt: 91_000 } as const;
  const { record } = await records.createToken(token);
  now = 90_000;
  expect((await records.rotateToken(record.id, 500))?.record.expiresAt).toBe(180_000);
});

test('a token that another process has just revoked is not rotated', async () => {
  const [one, other] = [await open(), await open()];
  const { token, record } = await one.createToken({
    name: 'a',
    tenant: defaultTenant,
    role: 'admin',
    prefix: undefined,
    expiresAt: undefined,
  });
  await other.refresh();
  expect(await other.findToken(token)).toEqual(record);
  await one.revokeToken(record.id);
  expect(await other.rotateToken(record.id, 60_000)).toBeUndefined();
  expect(await (await open()).findToken(token)).toBeUndefined();
});

/** Each change of a record waits before it is in place. */
async function openSlow() {
  const [renames, released] = [promise(), promise()];
  class SlowRename extends DurableFiles {
    override async rename(from: string, to: string): Promise<void> {
      renames.resolve();
      await released.promise;
      await super.rename(from, to);
    }
  }
  directory ??= await temporaryDirectory();
  const records = await AccessRecords.open(directory.path, new SlowRename());
  return { records, renames: renames.promise, release: released.resolve };
}

function promise() {
  let resolve = (): void => {};
  return { promise: new Promise<void>((done) => (resolve = done)), resolve: () => resolve() };
}

test.each(['this process', 'another one'])(
  'a token that %s revokes while it is rotated does not come back',
  async (who) => {
    const { records, renames, release } = await openSlow();
    const { token, record } = await records.createToken({
      name: 'a',
      tenant: defaultTenant,
      role: 'admin',
      prefix: undefined,
      expiresAt: undefined,
    });
    const rotated = records.rotateToken(record.id, 60_000);
    await renames;
    expect(await (who === 'this process' ? records : await open()).revokeToken(record.id)).toBe(true);
    release();
    expect(await rotated).toMatchObject({ record: { name: 'a' } });
    expect(await records.findToken(token)).toBeUndefined();
    expect(await (await open()).findToken(token)).toBeUndefined();
  },
);

test('a tenant that another process removes while its limits are changed does not come back', async () => {
  const { records, renames, release } = await openSlow();
  await records.createTenant(desk, noLimits);
  const changed = records.setTenant(desk, { maxFrames: 3 });
  changed.catch(() => {});
  await renames;
  await (await open()).removeTenant(desk);
  release();
  await expect(changed).rejects.toMatchObject({ message: expect.stringContaining('no tenant "desk"') });
  expect(await (await open()).hasTenant(desk)).toBe(false);
});

test('changes of a tenant at the same time are all kept', async () => {
  const records = await open();
  await records.createTenant(desk, noLimits);
  await Promise.all([records.setTenant(desk, { maxFrames: 3 }), records.setTenant(desk, { maxBytes: 5 })]);
  expect(await records.limitsOf(desk)).toMatchObject({ maxFrames: 3, maxBytes: 5 });
});

test('tenants are made, changed, listed and removed with their tokens', async () => {
  const records = await open(() => 7);
  await records.createTenant(desk, limits);
  await expect(records.createTenant(desk, limits)).rejects.toThrow('there is a tenant desk already');
  await expect(records.createTenant(defaultTenant, limits)).rejects.toThrow('already');
  expect(await records.setTenant(desk, { maxFrames: 3 })).toEqual({ ...limits, maxFrames: 3, createdAt: 7 });
  expect((await records.listTenants()).map(({ name }) => name)).toEqual(['default', 'desk']);
  const { token } = await records.createToken({
    name: 'a',
    tenant: desk,
    role: 'read',
    prefix: undefined,
    expiresAt: undefined,
  });
  await records.removeTenant(desk);
  expect(await records.findToken(token)).toBeUndefined();
  expect(await records.hasTenant(desk)).toBe(false);
  await expect(records.removeTenant(desk)).rejects.toThrow('there is no tenant "desk"');
  await expect(records.removeTenant(defaultTenant)).rejects.toThrow('cannot be removed');
  await expect(
    records.createToken({ name: 'a', tenant: desk, role: 'read', prefix: undefined, expiresAt: undefined }),
  ).rejects.toThrow('there is no tenant');
});

test('no token is made for a tenant that another process has just made anew, until that is known', async () => {
  const [one, other] = [await open(), await open()];
  const token = { name: 'a', tenant: desk, role: 'read', prefix: undefined, expiresAt: undefined } as const;
  await one.createTenant(desk, noLimits);
  await other.refresh();
  await other.createToken(token);
  await one.removeTenant(desk);
  await one.createTenant(desk, noLimits);
  await expect(other.createToken(token)).rejects.toThrow('there is no tenant');
  const made = await other.createToken(token);
  await one.refresh();
  expect(await one.findToken(made.token)).toMatchObject({ tenant: desk });
});

test('the tokens of a tenant whose record was damaged are good again when its limits are set', async () => {
  const records = await open();
  await records.createTenant(desk, noLimits);
  const token = { name: 'a', tenant: desk, role: 'read', prefix: undefined, expiresAt: undefined } as const;
  const made = await records.createToken(token);
  await writeFile(join(directory?.path ?? '', '.framehold', 'access', 'tenants', 'desk.json'), 'torn');
  const fresh = await open();
  await expect(fresh.limitsOf(desk)).rejects.toMatchObject({ code: 'auth_unavailable' });
  await expect(fresh.createToken(token)).rejects.toMatchObject({ code: 'auth_unavailable' });
  await fresh.setTenant(desk, limits);
  expect(await fresh.findToken(made.token)).toMatchObject({ tenant: desk });
  expect(await fresh.limitsOf(desk)).toMatchObject({ maxBytes: 1000 });
});

test('a share is of one frame: one that is made anew has another origin', async () => {
  const records = await open();
  const share = { owner: defaultTenant, handle: parseHandle('trades'), reader: desk };
  await records.shares.add(share, 'v1');
  expect(await records.shares.originOf(share)).toBe('v1');
  expect(records.shares.withReader(desk)).toEqual([share]);
  expect(records.shares.ofFrame(defaultTenant, parseHandle('trades'))).toEqual([share]);
  expect(records.shares.withReader(defaultTenant)).toEqual([]);
  expect([await records.shares.remove(share), await records.shares.remove(share)]).toEqual([true, false]);
  expect(await records.shares.originOf(share)).toBeUndefined();
});

test('shares of a frame that is gone make room for those of the one under its handle', async () => {
  const share = (reader: string) => ({ owner: defaultTenant, handle: parseHandle('trades'), reader: reader as Tenant });
  await (await open()).shares.add(share('t0'), 'v1');
  const folder = join(directory?.path ?? '', '.framehold', 'access', 'shares');
  for (let n = 1; n < 1000; n++) {
    await copyFile(join(folder, 'default+trades+t0.json'), join(folder, `default+trades+t${n}.json`));
  }
  const records = await open();
  await expect(records.shares.add(share('more'), 'v1')).rejects.toMatchObject({ code: 'quota_exceeded' });
  await records.shares.add(share('more'), 'v2');
  expect(records.shares.ofFrame(defaultTenant, parseHandle('trades'))).toEqual([share('more')]);
});

test('a share whose name would be too long for a file is refused with the reason', async () => {
  const records = await open();
  const [owner, reader] = ['o'.repeat(63) as Tenant, 'r'.repeat(63) as Tenant];
  const share = (length: number) =>
    records.shares.add({ owner, handle: parseHandle('h'.repeat(length)), reader }, 'v1');
  await expect(share(128)).rejects.toMatchObject({ code: 'invalid_parameter' });
  await share(122);
  expect(records.shares.withReader(reader)).toHaveLength(1);
});

test('a damaged record gives no access', async () => {
  const records = await open();
  const { token } = await records.createToken({
    name: 'a',
    tenant: defaultTenant,
    role: 'read',
    prefix: undefined,
    expiresAt: undefined,
  });
  const folder = join(directory?.path ?? '', '.framehold', 'access', 'tokens');
  const [name = ''] = await readdir(folder);
  const text = await readFile(join(folder, name), 'utf8');
  await writeFile(join(folder, name), text.replace('"read"', '"operator"'));
  expect(await (await open()).findToken(token)).toBeUndefined();
});

test('tokens that two processes make at once are all kept', async () => {
  const [one, other] = [await open(), await open()];
  const made = await Promise.all(
    Array.from({ length: 40 }, (_, n) =>
      (n % 2 === 0 ? one : other).createToken({
        name: `t${n}`,
        tenant: defaultTenant,
        role: 'read',
        prefix: undefined,
        expiresAt: undefined,
      }),
    ),
  );
  const fresh = await open();
  for (const { token, record } of made) expect(await fresh.findToken(token)).toEqual(record);
});

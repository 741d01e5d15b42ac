import { setMaxListeners } from 'node:events';
import { copyFile, link, mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SqlLab } from '../../../test/support/sql-lab.ts';
import type { Tenant } from '../../core/callers/principal.ts';
import type { FrameTable } from '../../core/sql/sql.ts';
import type { DuckDbSqlEngine, DuckDbSqlEngineOptions } from './duckdb-sql-engine.ts';

const never = new AbortController().signal;
setMaxListeners(0, never);

let lab: SqlLab;
beforeAll(async () => {
  lab = await SqlLab.open();
});
afterAll(() => lab[Symbol.asyncDispose]());

/** Each tenant can read only its folder. */
function newEngine(options: Partial<DuckDbSqlEngineOptions> = {}): DuckDbSqlEngine {
  const reachOf = async (tenant: Tenant) => ({ linksFolder: folderOf(tenant), hasAnalytics: false, shared: '' });
  return lab.newEngine({ reachOf, ...options });
}

function folderOf(tenant: string): string {
  return join(lab.path, 'links', tenant);
}

async function frameOf(tenant: string, sql: string): Promise<FrameTable> {
  const frame = await lab.frame('t', sql);
  const [part] = frame.parts;
  const path = join(folderOf(tenant), `${frame.versionId}.parquet`);
  await mkdir(folderOf(tenant), { recursive: true });
  await link(part?.path ?? '', path);
  return { ...frame, parts: [{ path, rows: frame.rows }] };
}

async function ask(
  on: DuckDbSqlEngine,
  of: string,
  sql: string,
  tables: readonly FrameTable[] = [],
  signal = never,
): Promise<string> {
  const tenant = of as Tenant;
  const statement = await on.analyze(sql, { signal, tenant });
  if (statement.kind !== 'query') throw new Error('not a query');
  await using result = await on.run({ query: statement.query, tables, form: 'ndjson' }, { signal, tenant });
  let text = '';
  for await (const { bytes } of result.rows()) text += Buffer.from(bytes).toString();
  return text.trim();
}

test('tenants that take turns keep their processes while there is one for each', async () => {
  await using engine = newEngine({ workers: 2 });
  const frames = { a: await frameOf('a', 'SELECT 1 AS n'), b: await frameOf('b', 'SELECT 2 AS n') };
  await ask(engine, 'a', 'SELECT n FROM t', [frames.a]);
  await ask(engine, 'b', 'SELECT n FROM t', [frames.b]);
  const before = engine.pids.toSorted();
  expect(before).toHaveLength(2);
  for (let n = 0; n < 10; n++) {
    expect(await ask(engine, 'a', 'SELECT n FROM t', [frames.a])).toBe('{"n":1}');
    expect(await ask(engine, 'b', 'SELECT n FROM t', [frames.b])).toBe('{"n":2}');
  }
  expect(engine.pids.toSorted()).toEqual(before);
});

test('one that comes after many statements of another tenant does not wait for all of them', async () => {
  await using engine = newEngine({ workers: 1 });
  const slow = 'SELECT sum(hash(range)) FROM range(3_000_000)';
  await ask(engine, 'a', slow);
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  let left = 40;
  const many = Array.from({ length: left }, async () => {
    await ask(engine, 'a', slow, [], controller.signal);
    left--;
  });
  const ended = Promise.allSettled(many);
  await ask(engine, 'b', 'SELECT 1');
  expect(left).toBeGreaterThan(0);
  controller.abort();
  await ended;
});

test('a tenant that has all processes gives one up to another that waits', async () => {
  await using engine = newEngine({ workers: 2 });
  const controller = new AbortController();
  const flood = async (): Promise<void> => {
    while (!controller.signal.aborted) await ask(engine, 'a', 'SELECT sum(hash(range)) FROM range(1_000_000)');
  };
  const floods = Array.from({ length: 6 }, flood);
  for (let n = 0; n < 3; n++) expect(await ask(engine, 'b', `SELECT ${n} AS n`)).toBe(`{"n":${n}}`);
  controller.abort();
  await Promise.all(floods);
});

test('a frame that cannot be linked is read where it lies, and one in its place, too', async () => {
  await using engine = newEngine({ workers: 1 });
  const [first, second] = [await lab.frame('t', 'SELECT 1 AS n'), await lab.frame('t', 'SELECT 2 AS n')];
  const at = (path: string, frame: FrameTable): FrameTable => ({ ...frame, parts: [{ path, rows: 1 }] });
  const path = join(lab.path, 'public.parquet');
  await copyFile(first.parts[0]?.path ?? '', path);
  expect(await ask(engine, 'a', 'SELECT n FROM t', [at(path, first)])).toBe('{"n":1}');
  await copyFile(second.parts[0]?.path ?? '', `${path}.new`);
  await rename(`${path}.new`, path);
  expect(await ask(engine, 'a', 'SELECT n FROM t', [at(path, second)])).toBe('{"n":2}');
});

test('a frame whose file is a symbolic link is read', async () => {
  await using engine = newEngine({ workers: 1 });
  const frame = await lab.frame('t', 'SELECT 3 AS n');
  const path = join(folderOf('a'), 'symbolic.parquet');
  await mkdir(dirname(path), { recursive: true });
  await symlink(frame.parts[0]?.path ?? '', path);
  const shown = { ...frame, parts: [{ path, rows: 1, isElsewhere: true }] };
  expect(await ask(engine, 'a', 'SELECT n FROM t', [shown])).toBe('{"n":3}');
});

test('a native copy is read by the tenant that it was made for', async () => {
  await using copies = lab.newWarmTables({ budgetBytes: 100_000_000, pause: { ms: 0, mostMs: 0 } });
  await using engine = newEngine({ workers: 1, nativeCopies: copies });
  const [own, shared] = [await frameOf('a', 'SELECT 4 AS n'), await frameOf('b', 'SELECT 4 AS n')];
  const same = { ...shared, versionId: own.versionId, frame: own.frame };
  for (let n = 0; n < 2; n++) await ask(engine, 'a', 'SELECT n FROM t', [own]);
  await copies.settled();
  expect(copies.find(own, 'a' as Tenant)).toBe(join(copies.folderOf('a' as Tenant), `${own.versionId}.duckdb`));
  expect(copies.find(same, 'b' as Tenant)).toBeUndefined();
  for (let n = 0; n < 2; n++) expect(await ask(engine, 'b', 'SELECT n FROM t', [same])).toBe('{"n":4}');
  await copies.settled();
  expect(copies.find(same, 'b' as Tenant)).toBe(join(copies.folderOf('b' as Tenant), `${own.versionId}.duckdb`));
  // From the copies: the files themselves are not Parquet any more.
  for (const frame of [own, same]) await writeFile(frame.parts[0]?.path ?? '', 'nothing');
  expect(await ask(engine, 'a', 'SELECT n + 1 AS n FROM t', [own])).toBe('{"n":5}');
  expect(await ask(engine, 'b', 'SELECT n + 1 AS n FROM t', [same])).toBe('{"n":5}');
});

test('when other frames are shared with a tenant, its next statement has a new process, and copies of shared frames are gone', async () => {
  await using copies = lab.newWarmTables({ budgetBytes: 100_000_000, pause: { ms: 0, mostMs: 0 } });
  let shared = 'a/t';
  const reachOf = async (tenant: Tenant) => ({ linksFolder: folderOf(tenant), hasAnalytics: false, shared });
  await using engine = lab.newEngine({ workers: 1, nativeCopies: copies, reachOf });
  const b = 'b' as Tenant;
  const [own, others] = [await frameOf(b, 'SELECT 6 AS n'), await frameOf(b, 'SELECT 7 AS n')];
  const [mine, theirs] = [
    { ...own, frame: 'b/t' },
    { ...others, frame: 'a/t' },
  ];
  for (const frame of [mine, theirs, mine, theirs]) await ask(engine, b, 'SELECT n FROM t', [frame]);
  await copies.settled();
  expect([copies.find(mine, b), copies.find(theirs, b)]).not.toContain(undefined);
  const before = engine.pids;
  shared = '';
  expect(await ask(engine, b, 'SELECT n FROM t', [mine])).toBe('{"n":6}');
  expect(engine.pids).not.toEqual(before);
  expect(copies.find(mine, b)).toBeDefined();
  expect(copies.find(theirs, b)).toBeUndefined();
});

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { batchOf, type ConnectCall, scriptedConnectServer } from '../../../test/support/scripted-connect-server.ts';
import { rowsOf, runSql, sparkEngine, unstopped } from '../../../test/support/spark-engine.ts';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';

const sql = 'SELECT 1';

async function answer(call: ConnectCall): Promise<void> {
  if (call.method === 'AnalyzePlan') call.fail('UNIMPLEMENTED', 'no version is told');
  if (call.method !== 'ExecutePlan') return;
  await call.send(batchOf([1], 'r0'));
  await call.send({ resultComplete: {} });
  call.end();
}

const queryOf = async (engine: ReturnType<typeof sparkEngine>, text: string) => {
  const statement = await engine.sql.analyze(text, unstopped);
  if (statement.kind !== 'query') throw new Error('not a query');
  return statement.query;
};

it('a session is used again for the next query', async () => {
  await using server = await scriptedConnectServer(answer);
  await using engine = sparkEngine({ url: server.url });
  for (let times = 0; times < 3; times++) await rowsOf(await runSql(engine, sql));
  expect(server.calls.filter((method) => method === 'Config')).toHaveLength(2);
});

it('a statement that has ended leaves no call open in its session', async () => {
  const warnings: string[] = [];
  const note = ({ name }: Error): void => void warnings.push(name);
  process.on('warning', note);
  await using server = await scriptedConnectServer(answer);
  await using engine = sparkEngine({ url: server.url });
  // Node warns of the eleventh listener to a signal, and every open call listens to that of its session.
  for (let times = 0; times < 12; times++) await rowsOf(await runSql(engine, sql));
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', note);
  expect(warnings).toEqual([]);
});

it('a server that does not keep a setting on which the meaning of SQL hangs gets none', async () => {
  const key = 'spark.sql.variable.substitute';
  await using server = await scriptedConnectServer(answer, { isFixedSetting: (each) => each === key });
  await using engine = sparkEngine({ url: server.url });
  const message = `the engine does not keep ${key} at false, so that no SQL is sent to it`;
  await expect(runSql(engine, sql)).rejects.toMatchObject({ code: 'engine_unreachable', message });
  expect(await engine.health(unstopped)).toEqual({ state: 'down', problem: message });
  expect(server.calls).not.toContain('ExecutePlan');
});

it.each([
  ['fails', (call: ConnectCall) => call.fail('INTERNAL', 'x')],
  ['is not answered', () => {}],
])('a session whose query runs on because its release %s is ended, and not used again', async (_, release) => {
  const sessions: string[] = [];
  const released: string[] = [];
  await using server = await scriptedConnectServer(
    async (call) => {
      if (call.method === 'ReleaseExecute') release(call);
      if (call.method === 'ReleaseSession') released.push(call.sessionId);
      if (call.method !== 'ExecutePlan') return;
      sessions.push(call.sessionId);
      if (sessions.length > 1) await answer(call);
      else await call.send(batchOf([1], 'r0'));
    },
    { isLeftOpen: (method) => method === 'ReleaseExecute' },
  );
  await using engine = sparkEngine({ url: server.url });
  const left = await runSql(engine, sql);
  await left[Symbol.asyncDispose]();
  await rowsOf(await runSql(engine, sql));
  expect(sessions).toHaveLength(2);
  expect(sessions[1]).not.toBe(sessions[0]);
  await expect.poll(() => released).toEqual([sessions[0]]);
});

it('a session that was given up while it was set up is ended on the server', async () => {
  const begun: string[] = [];
  const released: string[] = [];
  await using server = await scriptedConnectServer(
    (call) => {
      if (call.method === 'Config') begun.push(call.sessionId);
      if (call.method === 'ReleaseSession') released.push(call.sessionId);
    },
    { isLeftOpen: (method) => method === 'Config' },
  );
  await using engine = sparkEngine({ url: server.url });
  const controller = new AbortController();
  const running = runSql(engine, sql, { options: { signal: controller.signal } });
  await expect.poll(() => begun).toHaveLength(1);
  controller.abort(new Error('gone'));
  await expect(running).rejects.toThrow('gone');
  await expect.poll(() => released).toEqual(begun);
});

it('sessions that wait behind a lost connection are ended, and new ones made', async () => {
  const sessions: string[] = [];
  const released: string[] = [];
  await using server = await scriptedConnectServer(async (call) => {
    if (call.method === 'ReleaseSession') released.push(call.sessionId);
    if (call.method === 'ExecutePlan') sessions.push(call.sessionId);
    await answer(call);
  });
  await using engine = sparkEngine({ url: server.url });
  await rowsOf(await runSql(engine, sql));
  server.cutAll();
  await expect.poll(async () => (await engine.health(unstopped)).state).toBe('up');
  await rowsOf(await runSql(engine, sql));
  expect(sessions[1]).not.toBe(sessions[0]);
  await expect.poll(() => released).toContain(sessions[0]);
});

it('where one session is forgotten, the others that wait are ended', async () => {
  const executed: string[] = [];
  const released: string[] = [];
  const errorClass = 'INVALID_HANDLE.SESSION_CHANGED';
  await using server = await scriptedConnectServer(async (call) => {
    if (call.method === 'ReleaseSession') released.push(call.sessionId);
    if (call.method !== 'ExecutePlan') return;
    executed.push(call.sessionId);
    if (executed.length === 3) call.fail('INTERNAL', `[${errorClass}] x`, { errorClass });
    else await answer(call);
  });
  await using engine = sparkEngine({ url: server.url });
  const both = [await runSql(engine, sql), await runSql(engine, sql)];
  for (const result of both) await rowsOf(result);
  await rowsOf(await runSql(engine, sql));
  const waiting = executed.slice(0, 2).find((id) => id !== executed[2]);
  await expect.poll(() => released).toEqual([waiting]);
});

it('a query that was read for Spark is read again where a server of the other kind has taken its place', async () => {
  let isSail = false;
  await using server = await scriptedConnectServer(answer, {
    serverSideSessionId: (sessionId) => (isSail ? sessionId : '22222222-2222-4222-8222-222222222222'),
  });
  await using engine = sparkEngine({ url: server.url });
  await rowsOf(await runSql(engine, sql));
  const recursive = await queryOf(engine, 'WITH RECURSIVE r AS (SELECT 1 AS n) SELECT * FROM r');
  const plain = await queryOf(engine, sql);
  isSail = true;
  server.cutAll();
  const run = (query: typeof plain) => engine.sql.run({ query, tables: [], form: 'arrow' }, unstopped);
  await expect.poll(async () => (await engine.health(unstopped)).state).toBe('up');
  expect(await rowsOf(await run(plain))).toHaveLength(1);
  await expect(run(recursive)).rejects.toMatchObject({ code: 'sql_forbidden' });
});

it('what is written once more in a new session is written into a new folder', async () => {
  await using directory = await temporaryDirectory();
  const folders: string[] = [];
  const errorClass = 'INVALID_HANDLE.SESSION_CHANGED';
  await using server = await scriptedConnectServer(async (call) => {
    if (call.method === 'AnalyzePlan') call.describe();
    if (call.method !== 'ExecutePlan') return;
    const folder = /rows-[\d-]+/.exec(Buffer.from(call.request).toString('latin1'))?.[0] ?? '';
    folders.push(folder);
    await mkdir(join(directory.path, folder));
    await writeFile(join(directory.path, folder, 'part-0.parquet'), '');
    if (folders.length === 1) call.fail('INTERNAL', `[${errorClass}] x`, { errorClass });
    else {
      await call.send({ resultComplete: {} });
      call.end();
    }
  });
  await using engine = sparkEngine({ url: server.url, coldDirectory: directory.path });
  const job = { query: await queryOf(engine, sql), tables: [], folder: directory.path };
  const paths = await engine.sql.write?.(job, unstopped);
  expect(folders).toHaveLength(2);
  expect(folders[1]).not.toBe(folders[0]);
  expect(paths).toEqual([join(directory.path, folders[1] ?? '', 'part-0.parquet')]);
});

it('no signal outlives the queries that followed it', async () => {
  const followed: AbortSignal[] = [];
  const any = vi.spyOn(AbortSignal, 'any').mockImplementation((signals) => {
    followed.push(...signals);
    return anyOf(signals);
  });
  try {
    await using server = await scriptedConnectServer(answer);
    await using engine = sparkEngine({ url: server.url });
    const signalsOf = async (): Promise<Set<AbortSignal>> => {
      followed.length = 0;
      const { signal } = new AbortController();
      await rowsOf(await runSql(engine, sql, { options: { signal } }));
      return new Set(followed);
    };
    const first = await signalsOf();
    const second = await signalsOf();
    expect([...second].filter((signal) => first.has(signal))).toEqual([]);
    expect(second.size).toBeGreaterThan(0);
  } finally {
    any.mockRestore();
  }
});

const anyOf = AbortSignal.any.bind(AbortSignal);

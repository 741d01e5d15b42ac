import { messagePrefix } from '@framehold/grpc';
import { expect, it } from 'vitest';
import { batchOf, type ConnectCall, scriptedConnectServer } from '../../../test/support/scripted-connect-server.ts';
import { rowsOf, runSql, sparkEngine, unstopped } from '../../../test/support/spark-engine.ts';

const sql = 'SELECT 1';

/** Batches of two rows each, named by their place; a reattachment continues behind the last that arrived. */
async function sendFrom(call: ConnectCall, first: number, last: number): Promise<void> {
  for (let place = first; place <= last; place++) await call.send(batchOf([place * 2, place * 2 + 1], `r${place}`));
}

const placeBehind = ({ lastResponseId }: ConnectCall): number =>
  lastResponseId === undefined ? 0 : Number(lastResponseId.slice(1)) + 1;

const idsUpTo = (count: number) => Array.from({ length: count }, (_, id) => ({ id: BigInt(id) }));

it.each([
  ['is cut off', (call: ConnectCall) => call.cut()],
  ['ends without the result being complete', (call: ConnectCall) => call.end()],
  ['is taken over by another', (call: ConnectCall) => call.fail('INTERNAL', '[INVALID_CURSOR.DISCONNECTED] x')],
  ['fails with UNAVAILABLE', (call: ConnectCall) => call.fail('UNAVAILABLE', 'x')],
])('a stream that %s after every batch gives each row once', async (_, interrupt) => {
  const batches = 6;
  await using server = await scriptedConnectServer(async (call) => {
    if (call.method !== 'ExecutePlan' && call.method !== 'ReattachExecute') return;
    const place = placeBehind(call);
    if (place === batches) {
      await call.send({ responseId: 'end', resultComplete: {} });
      call.end();
      return;
    }
    await sendFrom(call, place, place);
    setTimeout(() => interrupt(call), 20);
  });
  await using engine = sparkEngine({ url: server.url });
  expect(await rowsOf(await runSql(engine, sql))).toEqual(idsUpTo(batches * 2));
  expect(server.calls.filter((method) => method === 'ExecutePlan')).toHaveLength(1);
  expect(server.calls.filter((method) => method === 'ReattachExecute')).toHaveLength(batches);
});

it('a plan that never arrived is sent again under the same operation', async () => {
  const operations: string[] = [];
  await using server = await scriptedConnectServer(async (call) => {
    if (call.method === 'ReattachExecute') {
      call.fail('INTERNAL', '[INVALID_HANDLE.OPERATION_NOT_FOUND] x', {
        errorClass: 'INVALID_HANDLE.OPERATION_NOT_FOUND',
      });
    }
    if (call.method !== 'ExecutePlan') return;
    operations.push(call.operationId);
    if (operations.length === 1) {
      call.cut();
      return;
    }
    await sendFrom(call, 0, 0);
    await call.send({ resultComplete: {} });
    call.end();
  });
  await using engine = sparkEngine({ url: server.url });
  expect(await rowsOf(await runSql(engine, sql))).toEqual(idsUpTo(2));
  expect(operations).toHaveLength(2);
  expect(operations[0]).toBe(operations[1]);
});

it('a query whose first rows have come is never sent a second time', async () => {
  await using server = await scriptedConnectServer(async (call) => {
    if (call.method === 'ReattachExecute') {
      call.fail('INTERNAL', '[INVALID_HANDLE.OPERATION_NOT_FOUND] x', {
        errorClass: 'INVALID_HANDLE.OPERATION_NOT_FOUND',
      });
    }
    if (call.method !== 'ExecutePlan') return;
    await sendFrom(call, 0, 0);
    setTimeout(() => call.cut(), 20);
  });
  await using engine = sparkEngine({ url: server.url });
  await expect(rowsOf(await runSql(engine, sql))).rejects.toMatchObject({ code: 'engine_unreachable' });
  expect(server.calls.filter((method) => method === 'ExecutePlan')).toHaveLength(1);
});

it.each(['SESSION_CHANGED', 'SESSION_NOT_FOUND', 'SESSION_CLOSED'])(
  'a query that meets %s before it has begun runs in a new session',
  async (name) => {
    const errorClass = `INVALID_HANDLE.${name}`;
    let isFirst = true;
    await using server = await scriptedConnectServer(async (call) => {
      if (call.method !== 'ExecutePlan') return;
      if (isFirst) {
        isFirst = false;
        call.fail('INTERNAL', `[${errorClass}] x`, { errorClass });
        return;
      }
      await sendFrom(call, 0, 0);
      await call.send({ resultComplete: {} });
      call.end();
    });
    await using engine = sparkEngine({ url: server.url });
    expect(await rowsOf(await runSql(engine, sql))).toEqual(idsUpTo(2));
    expect(server.calls.filter((method) => method === 'Config')).toHaveLength(4);
  },
);

it('a server that was restarted under a query makes it fail, and says so', async () => {
  await using server = await scriptedConnectServer(async (call) => {
    if (call.method === 'ReattachExecute') {
      call.fail('INTERNAL', '[INVALID_HANDLE.SESSION_CHANGED] x', { errorClass: 'INVALID_HANDLE.SESSION_CHANGED' });
    }
    if (call.method !== 'ExecutePlan') return;
    await sendFrom(call, 0, 0);
    setTimeout(() => call.cut(), 20);
  });
  await using engine = sparkEngine({ url: server.url });
  await expect(rowsOf(await runSql(engine, sql))).rejects.toMatchObject({
    code: 'engine_unreachable',
    message: expect.stringContaining('restarted'),
  });
});

it.each([
  ['of another session', { sessionId: 'other' }],
  ['of another operation', { operationId: 'other' }],
  ['with fewer rows than announced', { arrowBatch: { ...batchOf([1], 'r').arrowBatch, rowCount: 2n } }],
  ['that is no Arrow', { arrowBatch: { rowCount: 1n, data: Buffer.from('nonsense') } }],
  [
    'whose Arrow is cut off',
    { arrowBatch: { rowCount: 1n, data: batchOf([1], 'r').arrowBatch?.data.subarray(0, -20) } },
  ],
])('an answer %s is refused', async (_, part) => {
  await using server = await scriptedConnectServer(async (call) => {
    if (call.method === 'ExecutePlan') await call.send({ ...batchOf([1], 'r0'), ...(part as object) });
  });
  await using engine = sparkEngine({ url: server.url });
  await expect(runSql(engine, sql)).rejects.toMatchObject({
    code: 'engine_unreachable',
    message: 'engine cluster gave an answer that cannot be read',
  });
});

it('an answer that is no protobuf is refused', async () => {
  await using server = await scriptedConnectServer(({ method, stream }) => {
    if (method !== 'ExecutePlan') return;
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
    stream.write(Buffer.concat([messagePrefix(3), Buffer.alloc(3, 255)]));
  });
  await using engine = sparkEngine({ url: server.url });
  await expect(runSql(engine, sql)).rejects.toMatchObject({
    code: 'engine_unreachable',
    message: 'engine cluster gave an answer that cannot be read',
  });
});

it('a query that is given up is stopped, and keeps its place until the server has ended it', async () => {
  const executions: ConnectCall[] = [];
  let isCallOpenAtRelease: boolean | undefined;
  await using server = await scriptedConnectServer(async (call) => {
    if (call.method === 'AnalyzePlan') call.fail('UNIMPLEMENTED', 'no version is told');
    if (call.method === 'ReleaseExecute') {
      isCallOpenAtRelease ??= executions[0]?.stream.closed === false;
      expect(call.operationId).toBe(executions.at(-1)?.operationId);
    }
    if (call.method !== 'ExecutePlan') return;
    if (executions.push(call) === 1) return;
    await sendFrom(call, 0, 0);
    await call.send({ resultComplete: {} });
    call.end();
  });
  await using engine = sparkEngine({ url: server.url, maxConcurrent: 1 });
  const controller = new AbortController();
  const running = runSql(engine, sql, { options: { signal: controller.signal } });
  await expect.poll(() => executions).toHaveLength(1);
  controller.abort(new Error('gone'));
  await expect(running).rejects.toThrow('gone');
  expect(isCallOpenAtRelease).toBe(true);
  expect(executions[0]?.stream.closed).toBe(false);
  expect(await engine.health(unstopped)).toMatchObject({ state: 'up', unstopped: 1 });
  await expect(runSql(engine, sql)).rejects.toMatchObject({
    code: 'overloaded',
    message: expect.stringContaining('still works on 1 statements that were given up'),
    retryAfterSeconds: 5,
  });
  executions[0]?.end();
  await expect.poll(() => engine.health(unstopped)).toMatchObject({ unstopped: 0 });
  expect(await rowsOf(await runSql(engine, sql))).toEqual(idsUpTo(2));
});

it('a query under way when the engine closes is stopped and answered, and not begun anew', async () => {
  await using server = await scriptedConnectServer(() => {});
  const engine = sparkEngine({ url: server.url });
  const running = runSql(engine, sql);
  await expect.poll(() => server.calls).toContain('ExecutePlan');
  const [outcome] = await Promise.allSettled([running, engine[Symbol.asyncDispose]()]);
  expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'engine_unreachable' } });
  expect(server.calls.filter((method) => method === 'ExecutePlan')).toHaveLength(1);
  expect(server.calls.slice(-2)).toEqual(['ReleaseExecute', 'ReleaseSession']);
});

it('a query that takes too long is stopped and answered engine_timeout', async () => {
  await using server = await scriptedConnectServer(() => {});
  await using engine = sparkEngine({ url: server.url, queryTimeoutMs: 200 });
  await expect(runSql(engine, sql)).rejects.toMatchObject({ code: 'engine_timeout' });
  expect(server.calls).toContain('ReleaseExecute');
});

it('a slow reader holds the server up instead of filling memory', async () => {
  const ids = Array.from({ length: 100_000 }, (_, id) => id);
  const data = batchOf(ids, 'r').arrowBatch?.data ?? new Uint8Array(0);
  let sent = 0;
  await using server = await scriptedConnectServer(async (call) => {
    if (call.method !== 'ExecutePlan') return;
    for (let place = 0; place < 400 && !call.stream.destroyed; place++) {
      await call.send({ responseId: `r${place}`, arrowBatch: { rowCount: 100_000n, data } });
      sent += data.length;
    }
  });
  await using engine = sparkEngine({ url: server.url });
  await using result = await runSql(engine, sql);
  const rows = result.rows()[Symbol.asyncIterator]();
  await rows.next();
  let before = -1;
  const hasStopped = (): boolean => {
    const isSame = before === sent;
    before = sent;
    return isSame;
  };
  await expect.poll(hasStopped, { interval: 300 }).toBe(true);
  expect(sent).toBeLessThan(16 * 1024 * 1024);
  await rows.next();
  await rows.return?.();
});

it('a result over the limit is refused with what to do instead', async () => {
  await using server = await scriptedConnectServer(async (call) => {
    if (call.method === 'ExecutePlan') await sendFrom(call, 0, 100);
  });
  await using engine = sparkEngine({ url: server.url, maxResultBytes: 5000 });
  await expect(rowsOf(await runSql(engine, sql))).rejects.toMatchObject({
    code: 'too_large',
    hint: expect.stringContaining('CREATE TABLE'),
  });
  expect(server.calls).toContain('ReleaseExecute');
});

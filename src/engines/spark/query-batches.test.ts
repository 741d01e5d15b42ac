import { type ArrowField, arrowField, arrowTable, endOfStream, schemaMessage } from '@framehold/arrow-ipc';
import { joinBytes } from '@framehold/columns';
import type { ExecuteResponse } from '@framehold/spark-connect/messages';
import { expect, it } from 'vitest';
import {
  answerOf,
  batchOf,
  type ConnectCall,
  scriptedConnectServer,
} from '../../../test/support/scripted-connect-server.ts';
import { rowsOf, runSql, sparkEngine, unstopped } from '../../../test/support/spark-engine.ts';
import { AppError } from '../../core/errors/app-error.ts';
import type { JobOptions } from '../../core/rows/frame-engine.ts';
import type { ArrowRecoder } from '../../core/sql/sql.ts';

/** A server whose executions give these answers, one after another. */
const answering = (...answers: readonly Partial<ExecuteResponse>[]) => {
  let place = 0;
  return scriptedConnectServer(async (call: ConnectCall) => {
    if (call.method !== 'ExecutePlan') return;
    const answer = answers[place++];
    if (answer !== undefined) await call.send(answer);
    await call.send({ resultComplete: {} });
    call.end();
  });
};

const decimal = (scale: number): ArrowField => arrowField('d', { kind: 'decimal', precision: 10, scale, bits: 128 });
const nested = (depth: number): ArrowField =>
  depth === 0
    ? arrowField('f', { kind: 'bool' })
    : arrowField('f', { kind: 'struct' }, { children: [nested(depth - 1)] });
const emptyAnswer = (fields: readonly ArrowField[]): Partial<ExecuteResponse> => ({
  arrowBatch: { rowCount: 0n, data: joinBytes([schemaMessage(fields), endOfStream]) },
});
const places = [arrowField('1', { kind: 'int', bits: 64, signed: true })];
const parameters = joinBytes([schemaMessage(places), arrowTable(places, [[1], [2]]), endOfStream]);

it.each([
  ['without columns', [], 'its schema has no columns'],
  ['nested too deep', [nested(70)], 'its schema is nested more than 64 deep'],
])('a result %s is refused, and leaves its place to the next query', async (_, fields, why) => {
  await using server = await answering(emptyAnswer(fields), batchOf([7], 'r'));
  await using engine = sparkEngine({ url: server.url, maxConcurrent: 1 });
  await expect(runSql(engine, 'SELECT 1')).rejects.toMatchObject({
    code: 'unsupported_type',
    message: `the result cannot be read: ${why}`,
  });
  expect(await rowsOf(await runSql(engine, 'SELECT 1'))).toEqual([{ id: 7n }]);
});

it('rows of parameters that give other types are refused, and not read as what they are not', async () => {
  await using server = await answering(answerOf([decimal(1)], [[12n]], 'r'), answerOf([decimal(2)], [[123n]], 'r'));
  await using engine = sparkEngine({ url: server.url });
  await expect(runSql(engine, 'SELECT round(1.2345, ?)', { parameters }).then(rowsOf)).rejects.toMatchObject({
    code: 'sql_error',
    message: 'the rows of parameters give results of different types',
  });
});

it('rows of parameters may change the name of a column, and whether it has NULLs', async () => {
  const named = (name: string, nullable: boolean) =>
    arrowField(name, { kind: 'int', bits: 32, signed: true }, { nullable });
  await using server = await answering(
    answerOf([named('1', false)], [[1]], 'r'),
    answerOf([named('NULL', true)], [[null]], 'r'),
  );
  await using engine = sparkEngine({ url: server.url });
  expect(await rowsOf(await runSql(engine, 'SELECT ?', { parameters }))).toEqual([{ 1: 1 }, { 1: null }]);
});

it('a result whose form changes in its middle is refused as an answer that cannot be read', async () => {
  const withDictionary = batchOf([1], 'r').arrowBatch?.data.slice() ?? new Uint8Array(0);
  const batchAt = schemaMessage([arrowField('id', { kind: 'int', bits: 64, signed: true })]).length;
  // The message becomes one of a dictionary, whose header is not read.
  const kind = new DataView(withDictionary.buffer, withDictionary.byteOffset);
  kind.setUint8(messageKindAt(kind, batchAt + 8), 2);
  await using server = await answering(batchOf([1], 'r'), { arrowBatch: { rowCount: 0n, data: withDictionary } });
  await using engine = sparkEngine({ url: server.url });
  await expect(runSql(engine, 'SELECT ?', { parameters }).then(rowsOf)).rejects.toMatchObject({
    code: 'engine_unreachable',
    message: 'engine cluster gave an answer that cannot be read',
  });
});

/** The place of a message's kind of header: the second field of its table. */
function messageKindAt(view: DataView, start: number): number {
  const table = start + view.getUint32(start, true);
  const fieldTable = table - view.getInt32(table, true);
  return table + view.getUint16(fieldTable + 4 + 2, true);
}

it('rows that are put into another form wait in the lane of their caller', async () => {
  let asked: JobOptions | undefined;
  const recoder: ArrowRecoder = {
    recode: async (_stream, _wanted, options) => {
      asked = options;
      throw new AppError('overloaded', 'enough');
    },
  };
  await using server = await answering(batchOf([1], 'r'));
  await using engine = sparkEngine({ url: server.url, recoder });
  const options = { ...unstopped, lane: 'ann' };
  await expect(runSql(engine, 'SELECT 1', { form: 'ndjson', options })).rejects.toMatchObject({ code: 'overloaded' });
  expect(asked?.lane).toBe('ann');
});

import { DateDay, Decimal, makeData, makeVector, Table, tableToIPC } from 'apache-arrow';
import { expect, test } from 'vitest';
import { caseNamed } from '../../../test/support/arrow-column-cases.ts';
import { batchMessage, endOfStream, schemaMessage } from '../../../test/support/arrow-stream-writer.ts';
import { argumentsOf } from './parameter-literals.ts';

const query = { sql: 'SELECT ?', tables: [], parameterCount: 1 };

function decimal(precision: number, scale: number): Uint8Array {
  const data = makeData({
    type: new Decimal(scale, precision, 128),
    length: 1,
    nullCount: 0,
    data: Uint32Array.of(123, 0, 0, 0),
  });
  return tableToIPC(new Table({ p: makeVector(data) }), 'stream');
}

test('a decimal is sent with its point', async () => {
  const [bound] = await argumentsOf({ query, parameters: decimal(10, 2) });
  expect(JSON.stringify(bound?.positional, (_, value) => (typeof value === 'bigint' ? `${value}` : value))).toContain(
    '1.23',
  );
});

test.each([
  [10, -2],
  [10, 400_000_000],
  [10, 11],
  [76, 2],
])('a decimal of %i digits and scale %i, which the cluster has not, is refused', async (precision, scale) => {
  await expect(argumentsOf({ query, parameters: decimal(precision, scale) })).rejects.toMatchObject({
    code: 'unsupported_type',
  });
});

test.each([
  ['1582-10-04', true],
  ['1582-10-05', false],
  ['1582-10-14', false],
  ['1582-10-15', true],
])('the date %s, which Spark may take for another one, is sent: %s', async (date, isSent) => {
  const day = Date.parse(`${date}T00:00:00Z`) / 86_400_000;
  const data = makeData({ type: new DateDay(), length: 1, nullCount: 0, data: Int32Array.of(day) });
  const bound = argumentsOf({ query, parameters: tableToIPC(new Table({ p: makeVector(data) }), 'stream') });
  if (isSent) expect((await bound)[0]?.positional).toHaveLength(1);
  else await expect(bound).rejects.toMatchObject({ code: 'unsupported_type' });
});

test.each([
  ['arrow.uuid', { string: '00112233-4455-6677-8899-aabbccddeeff' }],
  ['float16', { float: 1.5 }],
  ['time32[s]', { time: { nano: 3_661_000_000_000n, precision: 6 } }],
])('a value of %s is sent as the cluster has it', async (what, expected) => {
  const { field, batch } = caseNamed(what);
  const parameters = Buffer.concat([schemaMessage([field]), batchMessage(batch), endOfStream]);
  const bound = await argumentsOf({ query, parameters });
  expect(bound[0]?.positional[0]).toMatchObject(expected);
});

test.each([
  ['timestamp[us, zone]', true],
  ['timestamp[us]', false],
])('a %s beside a time zone of the statement is refused: %s', async (what, isRefused) => {
  const { field, batch } = caseNamed(what);
  const parameters = Buffer.concat([schemaMessage([field]), batchMessage(batch), endOfStream]);
  const bound = argumentsOf({ query, parameters, settings: { TimeZone: 'Europe/Berlin' } });
  if (!isRefused) expect(await bound).not.toHaveLength(0);
  else await expect(bound).rejects.toMatchObject({ code: 'invalid_parameter' });
});

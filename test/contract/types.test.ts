import { afterAll, beforeAll, expect, test } from 'vitest';
import { demoFrames } from '../../src/demo/demo-frames.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { ask } from '../support/http-client.ts';

/** Raw JSON of each cell of the demo frame `types`: lowest, highest, usual. The fourth row is null throughout. */
const expected: Record<string, readonly [column: object, lowest: string, highest: string, usual: string]> = {
  boolean: [{ type: 'BOOLEAN' }, 'false', 'true', 'true'],
  int8: [{ type: 'BYTE' }, '-128', '127', '7'],
  int16: [{ type: 'SHORT' }, '-32768', '32767', '7'],
  int32: [{ type: 'INT' }, '-2147483648', '2147483647', '7'],
  int64: [{ type: 'LONG' }, '-9223372036854775808', '9223372036854775807', '7'],
  uint8: [{ type: 'SHORT' }, '0', '255', '7'],
  uint16: [{ type: 'INT' }, '0', '65535', '7'],
  uint32: [{ type: 'LONG' }, '0', '4294967295', '7'],
  uint64: [{ type: 'DECIMAL(20,0)' }, '"0"', '"18446744073709551615"', '"7"'],
  float32: [{ type: 'FLOAT' }, 'null', '3.4028235e+38', '0.1'],
  float64: [{ type: 'DOUBLE' }, 'null', '1.7976931348623157e+308', '0.1'],
  decimal: [{ type: 'DECIMAL(18,3)' }, '"-999999999999999.999"', '"999999999999999.999"', '"12.500"'],
  decimal_wide: [{ type: 'DECIMAL(38,0)' }, `"-${'9'.repeat(38)}"`, `"${'9'.repeat(38)}"`, '"42"'],
  varchar: [{ type: 'VARCHAR' }, '""', '"quote \\" backslash \\\\ newline \\n emoji 🦆"', '"plain"'],
  date: [{ type: 'DATE' }, '"-0043-03-15T00:00:00.000Z"', '"+10000-01-01T00:00:00.000Z"', '"2026-01-31T00:00:00.000Z"'],
  timestamp: [
    { type: 'TIMESTAMP' },
    '"-0043-03-15T12:00:00.000000Z"',
    '"+10000-01-01T00:00:00.000001Z"',
    '"2026-01-31T12:00:00.500000Z"',
  ],
  timestamp_tz: [
    { type: 'TIMESTAMP' },
    '"1969-12-31T23:59:59.999999Z"',
    '"9999-12-31T23:59:59.000000Z"',
    '"2026-01-31T10:00:00.000000Z"',
  ],
  timestamp_ns: [
    { type: 'TIMESTAMP_NS' },
    '"1677-09-22T00:00:00.000000000Z"',
    '"2262-04-11T23:47:16.854775806Z"',
    '"2026-01-31T12:00:00.123456789Z"',
  ],
  time: [{ type: 'TIME' }, '"00:00:00.000000"', '"23:59:59.999999"', '"12:00:00.000000"'],
  interval: [{ type: 'INTERVAL' }, '"PT0S"', '"P999Y"', '"P1M2DT3H"'],
  uuid: [
    { type: 'UUID' },
    '"00000000-0000-0000-0000-000000000000"',
    '"ffffffff-ffff-ffff-ffff-ffffffffffff"',
    '"6a2f0b1e-6c1c-4b9e-9a53-0f1d2c3b4a59"',
  ],
  binary: [{ type: 'BINARY' }, '""', '"/wCA"', '"ZHVjaw=="'],
  list: [{ type: 'ARRAY', dim: 1, elemType: 'INT' }, '[]', '[2147483647,null]', '[1,2,3]'],
  nested_list: [{ type: 'ARRAY', dim: 2, elemType: 'DOUBLE' }, '[[]]', '[[null,1.5],null]', '[[1.0,2.0],[3.0]]'],
  struct: [{ type: 'JSON' }, '{"a":null,"b":null}', '{"a":2147483647,"b":"🦆"}', '{"a":1,"b":"x"}'],
  map: [{ type: 'JSON' }, '{}', '{"max":2147483647,"none":null}', '{"one":1}'],
  map_by_number: [{ type: 'JSON' }, '[]', '[{"key":2147483647,"value":"max"}]', '[{"key":1,"value":"one"}]'],
  json: [{ type: 'JSON' }, 'null', '{"deep":[1,{"x":null}]}', '[1, 2]'],
};

let server: Framehold;
beforeAll(async () => {
  server = await startFramehold();
  await putSql(server.frames, 'types', demoFrames.find(({ handle }) => handle === 'types')?.sql ?? '');
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

test('every type has its name and its JSON form, at both ends of its range and as NULL', async () => {
  const columns = Object.entries(expected).map(([name, [column]]) => ({ name, ...column }));
  const row = (pick: (cells: readonly [object, string, string, string]) => string) =>
    `[${Object.values(expected).map(pick).join(',')}]`;
  const rows = [row((c) => c[1]), row((c) => c[2]), row((c) => c[3]), row(() => 'null')];
  const answer = await ask(`${server.url}/exec?handle=types&fmt=json`);
  expect(answer.text).toBe(
    `{"query":"handle:types","columns":${JSON.stringify(columns)},"dataset":[${rows.join(',')}],"count":4}`,
  );
});

test('quoteLargeNum quotes what is typed LONG and nothing else', async () => {
  const answer = await ask(`${server.url}/exec?handle=types&fmt=json&quoteLargeNum=true&limit=2,2`);
  const { columns, dataset } = answer.json() as { columns: { name: string; type: string }[]; dataset: unknown[][] };
  const quoted = columns.filter((_, n) => typeof dataset[0]?.[n] === 'string').map((column) => column.type);
  expect(new Set(quoted)).toEqual(
    new Set([
      'LONG',
      'DECIMAL(20,0)',
      'DECIMAL(18,3)',
      'DECIMAL(38,0)',
      'VARCHAR',
      'DATE',
      'TIMESTAMP',
      'TIMESTAMP_NS',
      'TIME',
      'INTERVAL',
      'UUID',
      'BINARY',
    ]),
  );
});

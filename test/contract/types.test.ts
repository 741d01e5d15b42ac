import { afterAll, beforeAll, expect, test } from 'vitest';
import { demoFrames } from '../../src/demo/demo-frames.ts';
import { execTypeForms } from '../support/exec-type-forms.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { ask } from '../support/http-client.ts';

let server: Framehold;
beforeAll(async () => {
  server = await startFramehold();
  await putSql(server.frames, 'types', demoFrames.find(({ handle }) => handle === 'types')?.sql ?? '');
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

test('every type has its name and its JSON form, at both ends of its range and as NULL', async () => {
  const columns = Object.entries(execTypeForms).map(([name, [column]]) => ({ name, ...column }));
  const row = (pick: (cells: readonly [object, string, string, string]) => string) =>
    `[${Object.values(execTypeForms).map(pick).join(',')}]`;
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

test('quoteNonFinite names NaN and what is infinite in JSON at every door, and tells them from NULL', async () => {
  const forms = ["'NaN'", "'Infinity'", "'-Infinity'", 'NULL', "'1'"];
  const times = ["'Infinity'", "'-Infinity'", 'NULL', "'1970-01-02'", 'NULL'];
  const rows = forms.map((form, n) => {
    const time = times[n] as string;
    return `(${form}::DOUBLE, ${form}::FLOAT, [${form}::DOUBLE, 2], {'a': ${form}::FLOAT}, ${time}::DATE, ${time}::TIMESTAMP, ${time}::TIMESTAMP_NS, ${time}::TIMESTAMPTZ)`;
  });
  const sql = `SELECT * FROM (VALUES ${rows.join(', ')}) AS t(d, f, l, s, day, us, ns, tz)`;
  await putSql(server.frames, 'special', sql);
  const dates = (day: string, us: string, ns: string) => [day, us, ns, us];
  const infinite = (name: string) => Array<string>(4).fill(name);
  const named = [
    ['NaN', 'NaN', ['NaN', 2], { a: 'NaN' }, ...infinite('Infinity')],
    ['Infinity', 'Infinity', ['Infinity', 2], { a: 'Infinity' }, ...infinite('-Infinity')],
    ['-Infinity', '-Infinity', ['-Infinity', 2], { a: '-Infinity' }, null, null, null, null],
    [
      null,
      null,
      [null, 2],
      { a: null },
      ...dates('1970-01-02T00:00:00.000Z', '1970-01-02T00:00:00.000000Z', '1970-01-02T00:00:00.000000000Z'),
    ],
    [1, 1, [1, 2], { a: 1 }, null, null, null, null],
  ];
  const query = encodeURIComponent(sql);
  const json = 'fmt=json&quoteNonFinite=true';
  for (const path of [
    `/exec?handle=special&${json}`,
    `/exec?engine=local&query=${query}&${json}`,
    `/exp?handle=special&${json}`,
    `/exp?engine=local&query=${query}&${json}`,
    `/handles/special/rows?${json}`,
  ]) {
    expect((await ask(`${server.url}${path}`)).json().dataset, path).toEqual(named);
    // The same page without it is another one, also in the cache.
    const bare = (await ask(`${server.url}${path.replace('&quoteNonFinite=true', '')}`)).json() as {
      dataset: unknown[][];
    };
    expect(bare.dataset[0], path).toEqual([null, null, [null, 2], { a: null }, null, null, null, null]);
  }
  const answer = await ask(`${server.url}/sql`, {
    method: 'POST',
    body: JSON.stringify({ sql, quoteNonFinite: true, quoteLargeNum: true }),
  });
  expect(answer.json().dataset).toEqual(named);
  const lines = (await ask(`${server.url}/exp?handle=special&fmt=ndjson&quoteNonFinite=true`)).text.split('\n');
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ d: 'NaN', l: ['NaN', 2], day: 'Infinity', us: 'Infinity' });
});

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

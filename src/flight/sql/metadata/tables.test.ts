import { inTurns } from '@framehold/async';
import type { Column } from '@framehold/columns';
import { RecordBatchReader } from 'apache-arrow';
import { expect, test } from 'vitest';
import { anonymous } from '../../../auth/identify.ts';
import { AppError } from '../../../core/errors/app-error.ts';
import { parseHandle } from '../../../core/names/handle.ts';
import type { AnalyticsTable } from '../../../core/sql/sql.ts';
import type { FrameSummary } from '../../../frames/catalog/frame-summary.ts';
import { tableSchema } from './table-schema.ts';
import { listCatalogs, listSchemas, listTables, type TableFilter, type TableSources } from './tables.ts';

const columns: readonly Column[] = [
  { name: 'price', type: { kind: 'decimal', precision: 10, scale: 2 } },
  { name: 'symbol', type: { kind: 'utf8' } },
];
const held = (handle: string): FrameSummary => ({
  state: 'held',
  handle: parseHandle(handle),
  version: 1,
  versionId: '1',
  lineage: 'l',
  contentId: 'l.1',
  origin: '1',
  rows: 1,
  bytes: 1,
  columns,
  createdAt: 0,
  expiresAt: undefined,
  ttlMs: null,
});
const analytics: readonly AnalyticsTable[] = [
  { schema: 'main', name: 'venues', kind: 'view', columns },
  { schema: 'main', name: 'instruments', kind: 'table', columns },
  { schema: 'eu', name: 'trades', kind: 'table', columns },
];
const sources: TableSources = {
  principal: anonymous,
  sql: { analyticsTables: async () => analytics, liveTables: async () => [] },
  frames: {
    async *list() {
      yield held('quotes_1');
      yield { state: 'damaged', handle: parseHandle('torn'), version: 1, bytes: 1, reason: 'cut' };
      yield held('trades');
    },
  },
};
const { signal } = new AbortController();
const all: TableFilter = { catalog: undefined, schemaPattern: undefined };

async function names(filter: Partial<TableFilter>): Promise<string[]> {
  const found: string[] = [];
  for await (const { catalog, schema, name, type } of listTables(sources, { ...all, ...filter }, { signal })) {
    found.push(`${catalog}.${schema}.${name} ${type}`);
  }
  return found;
}

test('frames and the tables of the operator are listed in order, a damaged frame is not', async () => {
  expect(await names({})).toEqual([
    'analytics.eu.trades TABLE',
    'analytics.main.instruments TABLE',
    'analytics.main.venues VIEW',
    'framehold.frames.quotes_1 TABLE',
    'framehold.frames.trades TABLE',
  ]);
});

test.each<[Partial<TableFilter>, number]>([
  [{ catalog: 'framehold' }, 2],
  [{ catalog: 'FRAMEHOLD', schemaPattern: 'FRAMES', tablePattern: 'TRADES' }, 1],
  [{ catalog: 'ANALYTICS', schemaPattern: 'Ma%', tablePattern: 'INSTR%' }, 1],
  [{ catalog: '' }, 0],
  [{ catalog: 'nowhere' }, 0],
  [{ schemaPattern: 'm%' }, 2],
  [{ schemaPattern: '' }, 0],
  [{ tablePattern: 'trades' }, 2],
  [{ tablePattern: 'quotes\\_1', schemaPattern: 'frames' }, 1],
  [{ tableTypes: ['view'] }, 1],
  [{ tableTypes: ['BASE TABLE', 'table'] }, 4],
  [{ tableTypes: ['SYSTEM TABLE'] }, 0],
])('%j leaves %i tables', async (filter, count) => {
  expect(await names(filter)).toHaveLength(count);
});

test('the database of the operator is not shown where it has no tables', async () => {
  const empty = { ...sources, sql: { analyticsTables: async () => [], liveTables: async () => [] } };
  expect(await listCatalogs(empty, { signal })).toEqual(['framehold']);
  expect(await listCatalogs(sources, { signal })).toEqual(['analytics', 'framehold']);
  expect(await listSchemas(empty, all, { signal })).toEqual([['framehold', 'frames']]);
  expect(await listSchemas(sources, { ...all, schemaPattern: 'e_' }, { signal })).toEqual([['analytics', 'eu']]);
  expect(await listSchemas(sources, { catalog: 'FrameHold', schemaPattern: 'FR%' }, { signal })).toEqual([
    ['framehold', 'frames'],
  ]);
});

test('frames are listed while the database of the operator cannot be opened; who asks for its tables is told', async () => {
  const locked = async (): Promise<never> => {
    throw new AppError('sql_error', 'the database analytics cannot be opened now');
  };
  const busy = { ...sources, sql: { analyticsTables: locked, liveTables: async () => [] } };
  expect(await listSchemas(busy, all, { signal })).toContainEqual(['framehold', 'frames']);
  const found: string[] = [];
  for await (const { name } of listTables(busy, all, { signal })) found.push(name);
  expect(found).toEqual(['quotes_1', 'trades']);
  await expect(listSchemas(busy, { ...all, catalog: 'analytics' }, { signal })).rejects.toThrow('cannot be opened now');
});

test('the schema of a table tells what its columns are', async () => {
  const table = { catalog: 'framehold', schema: 'frames', name: 'trades', type: 'TABLE', columns } as const;
  const { schema } = RecordBatchReader.from(await inTurns(tableSchema(table), '')).open();
  const [price, symbol] = schema.fields.map(({ metadata }) => Object.fromEntries(metadata));
  expect(price).toMatchObject({
    'ARROW:FLIGHT:SQL:CATALOG_NAME': 'framehold',
    'ARROW:FLIGHT:SQL:DB_SCHEMA_NAME': 'frames',
    'ARROW:FLIGHT:SQL:TABLE_NAME': 'trades',
    'ARROW:FLIGHT:SQL:TYPE_NAME': 'DECIMAL',
    'ARROW:FLIGHT:SQL:PRECISION': '10',
    'ARROW:FLIGHT:SQL:SCALE': '2',
    'ARROW:FLIGHT:SQL:IS_AUTO_INCREMENT': '0',
    'ARROW:FLIGHT:SQL:IS_CASE_SENSITIVE': '0',
    'ARROW:FLIGHT:SQL:IS_READ_ONLY': '0',
    'ARROW:FLIGHT:SQL:IS_SEARCHABLE': '1',
  });
  expect(symbol).toMatchObject({
    'ARROW:FLIGHT:SQL:TYPE_NAME': 'VARCHAR',
    'ARROW:FLIGHT:SQL:IS_CASE_SENSITIVE': '1',
  });
});

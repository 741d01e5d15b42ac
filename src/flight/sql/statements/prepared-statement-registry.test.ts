import { expect, test } from 'vitest';
import { principalOf } from '../../../../test/support/principals.ts';
import type { Query } from '../../../core/sql/sql.ts';
import { type PreparedStatementLimits, PreparedStatementRegistry } from './prepared-statement-registry.ts';

const owner = principalOf();

const statement = (sql: string) => ({
  owner,
  sql,
  statement: undefined,
  isUpdate: false,
  columns: [],
  parameters: [],
  schema: new Uint8Array(8),
  transaction: undefined,
});
const store = (limits: PreparedStatementLimits = {}): PreparedStatementRegistry =>
  new PreparedStatementRegistry(limits);

test('a statement is found by its handle, as often as it is asked for', () => {
  const statements = store();
  const { handle } = statements.add(statement('select 1'));
  for (let i = 0; i < 3; i++) expect(statements.get(owner, Uint8Array.from(handle)).sql).toBe('select 1');
});

test('two statements of the same text have handles and parameters of their own', () => {
  const statements = store();
  const [a, b] = [statements.add(statement('select ?')), statements.add(statement('select ?'))];
  statements.bind(owner, a.handle, Uint8Array.of(1));
  statements.bind(owner, b.handle, Uint8Array.of(2));
  expect(statements.get(owner, a.handle).binding?.parameters).toEqual(Uint8Array.of(1));
  expect(statements.get(owner, b.handle).binding?.parameters).toEqual(Uint8Array.of(2));
});

test('binding again gives the binding another id; binding nothing takes it back', () => {
  const statements = store();
  const { handle } = statements.add(statement('select ?'));
  const first = statements.bind(owner, handle, Uint8Array.of(1)).binding;
  expect(statements.bind(owner, handle, Uint8Array.of(1)).binding?.id).not.toBe(first?.id);
  expect(statements.bind(owner, handle, undefined).binding).toBeUndefined();
});

test('the least recently used make room', () => {
  const statements = store({ maxCount: 2 });
  const [a, b] = [statements.add(statement('a')), statements.add(statement('b'))];
  statements.get(owner, a.handle);
  const c = statements.add(statement('c'));
  expect(statements.size).toBe(2);
  expect(() => statements.get(owner, b.handle)).toThrow('not known');
  expect([statements.get(owner, a.handle).sql, statements.get(owner, c.handle).sql]).toEqual(['a', 'c']);
});

test('parameters and texts count against the memory of all', () => {
  const statements = store({ maxBytes: 1000 });
  const [a, b] = [statements.add(statement('a')), statements.add(statement('b'))];
  statements.bind(owner, b.handle, new Uint8Array(990));
  expect(() => statements.get(owner, a.handle)).toThrow('not known');
  expect(statements.get(owner, b.handle).binding?.parameters).toHaveLength(990);
  const c = statements.add(statement('c'.repeat(400)));
  expect(statements.size).toBe(1);
  statements.close(owner, c.handle);
  const rest = Array.from({ length: 50 }, (_, n) => statements.add(statement(`${n % 10}`)));
  expect(rest.map(({ handle }) => statements.get(owner, handle).sql)).toHaveLength(50);
});

test('an analysis counts by the length of its query and by its tables', () => {
  const analysed = (query: Pick<Query, 'sql' | 'tables'>) => ({
    ...statement('select'),
    statement: { kind: 'query', sql: 'select', engine: 'local', query: { parameterCount: 0, ...query } } as const,
  });
  const name = { catalog: undefined, schema: undefined, name: 't' };
  const statements = store({ maxBytes: 20_000 });
  const [a, b] = [analysed({ sql: 'x'.repeat(800), tables: [] }), analysed({ sql: 'x', tables: Array(40).fill(name) })];
  const { handle } = statements.add(a);
  statements.add(b);
  expect(statements.size).toBe(1);
  expect(() => statements.get(owner, handle)).toThrow('not known');
});

test('one that is idle too long is gone', () => {
  let now = 0;
  const statements = store({ idleMs: 100, now: () => now });
  const { handle } = statements.add(statement('a'));
  now = 90;
  statements.get(owner, handle);
  now = 180;
  statements.get(owner, handle);
  now = 281;
  expect(() => statements.get(owner, handle)).toThrow('not known');
  statements.add(statement('b'));
  expect(statements.size).toBe(1);
});

test('closing what is not there is no error', () => {
  const statements = store();
  const { handle } = statements.add(statement('a'));
  statements.close(owner, handle);
  statements.close(owner, handle);
  expect(() => statements.get(owner, handle)).toThrow('not known');
});

test('a statement of one caller is not there for another', () => {
  const statements = store();
  const { handle } = statements.add(statement('select 1'));
  for (const other of [principalOf('desk'), principalOf('default', { name: 'bob' })]) {
    expect(() => statements.get(other, handle)).toThrow('the prepared statement is not known');
    statements.close(other, handle);
  }
  expect(statements.get(owner, handle).sql).toBe('select 1');
});

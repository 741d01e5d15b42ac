import { describe, expect, test } from 'vitest';
import { duckDbConnection } from '../../../../../../test/support/duckdb-connection.ts';
import { gateQuery } from '../gate-query.ts';
import { gateKeptExpressions } from './gate-expressions.ts';

const connection = duckDbConnection();
const gate = (...texts: string[]): Promise<void> =>
  gateKeptExpressions(texts, (...part) => gateQuery(connection, ...part));

describe('expressions that were kept are checked as when they came', () => {
  test.each([['1'], ["a > 0 AND b IN ('x', 'y')"], ['[1, 2]'], ["{'a': 1}"], ["CAST(NULL AS ENUM('a')[])"]])(
    '%s may be used',
    async (text) => {
      await gate(text, text);
    },
  );

  test.each([
    [''],
    ['1), (2'],
    ['1) FROM u WHERE (2'],
    ['1, 2'],
    ['1; SELECT 2'],
    ['1 -- x'],
    ['1 /* x */'],
    ['1\n'],
    ['1 AS b'],
    ['SELECT 1'],
    ['FROM u'],
    ['(SELECT 1)'],
    ["getenv('x')"],
    ["read_text('/etc/passwd')"],
    ['$1'],
    ['(]'],
    ['(1'],
    ["'x"],
    ['DEFAULT'],
  ])('%s may not', async (text) => {
    await expect(gate('1', text)).rejects.toMatchObject({ code: expect.stringMatching(/^sql_/) });
  });
});

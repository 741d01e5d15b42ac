import { expect, test } from 'vitest';
import { noteWrite, statementName, Transactions } from './transactions.ts';

test('a transaction in which nothing was written can be rolled back, and is gone then', () => {
  const transactions = new Transactions();
  const id = transactions.begin();
  transactions.end(id, 'rollback');
  expect(() => transactions.find(id)).toThrow('there is no transaction');
});

test('a rollback names what was written and cannot be taken back; a commit still ends the transaction', () => {
  const transactions = new Transactions();
  const id = transactions.begin();
  for (const sql of ['drop table a', 'drop table b', 'drop table c', 'drop table d']) {
    noteWrite(transactions.find(id), statementName(sql));
  }
  expect(() => transactions.end(id, 'rollback')).toThrow(
    'cannot roll back what is durable already: drop table a; drop table b; drop table c and 1 more',
  );
  transactions.end(id, 'commit');
  expect(() => transactions.end(id, 'commit')).toThrow('there is no transaction');
});

test('a statement without a transaction belongs to none', () => {
  const transactions = new Transactions();
  expect(transactions.find(undefined)).toBeUndefined();
  expect(transactions.find(new Uint8Array(0))).toBeUndefined();
  expect(() => transactions.end(new Uint8Array(0), 'commit')).toThrow('transaction_id is missing');
});

test('long statements are named by their beginning', () => {
  expect(statementName(`insert into t\n  values ${'(1), '.repeat(50)}`)).toMatch(/^insert into t values \(1\).{50,}…$/);
});

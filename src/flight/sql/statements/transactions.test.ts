import { expect, test } from 'vitest';
import { principalOf } from '../../../../test/support/principals.ts';
import { noteWrite, statementName, Transactions } from './transactions.ts';

const owner = principalOf();

test('a transaction in which nothing was written can be rolled back, and is gone then', () => {
  const transactions = new Transactions();
  const id = transactions.begin(owner);
  transactions.end(owner, id, 'rollback');
  expect(() => transactions.find(owner, id)).toThrow('there is no transaction');
});

test('a rollback names what was written and cannot be taken back; a commit still ends the transaction', () => {
  const transactions = new Transactions();
  const id = transactions.begin(owner);
  for (const sql of ['drop table a', 'drop table b', 'drop table c', 'drop table d']) {
    noteWrite(transactions.find(owner, id), statementName(sql));
  }
  expect(() => transactions.end(owner, id, 'rollback')).toThrow(
    'cannot roll back what is durable already: drop table a; drop table b; drop table c and 1 more',
  );
  transactions.end(owner, id, 'commit');
  expect(() => transactions.end(owner, id, 'commit')).toThrow('there is no transaction');
});

test('a statement without a transaction belongs to none', () => {
  const transactions = new Transactions();
  expect(transactions.find(owner, undefined)).toBeUndefined();
  expect(transactions.find(owner, new Uint8Array(0))).toBeUndefined();
  expect(() => transactions.end(owner, new Uint8Array(0), 'commit')).toThrow('transaction_id is missing');
});

test('long statements are named by their beginning', () => {
  expect(statementName(`insert into t\n  values ${'(1), '.repeat(50)}`)).toMatch(/^insert into t values \(1\).{50,}…$/);
});

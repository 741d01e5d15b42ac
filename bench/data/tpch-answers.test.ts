import { describe, expect, test } from 'vitest';
import { type TpchAnswers, tpchDifferences } from './tpch-answers.ts';

describe('tpchDifferences', () => {
  const expected = answers({ 1: [['A', '25.522']], 6: [['123141078.2']] });

  test('finds none where numbers differ by less than the tolerance', () => {
    expect(tpchDifferences(expected, answers({ 1: [['A', '25.5220001']], 6: [['123141078.2']] }), 1e-6)).toEqual([]);
  });

  test.each([
    [
      'another number',
      { 1: [['A', '25.6']], 6: [['123141078.2']] },
      'query 1: row 1 is ["A","25.6"], not ["A","25.522"]',
    ],
    ['another text', { 1: [['B', '25.522']], 6: [['123141078.2']] }, 'query 1: row 1 is ["B","25.522"], not'],
    ['a row too many', { 1: [['A', '25.522']], 6: [['123141078.2'], ['1']] }, 'query 6: 2 rows, not 1'],
    ['a query without answer', { 6: [['123141078.2']] }, 'query 1: no answer'],
  ])('names the query with %s', (_, found, message) => {
    const differences = tpchDifferences(expected, answers(found), 1e-6);
    expect(differences).toHaveLength(1);
    expect(differences[0]).toContain(message);
  });

  test('gives the message of a query that failed', () => {
    const found = { ...answers({ 1: [['A', '25.522']] }), errors: { 6: 'out of memory' } };
    expect(tpchDifferences(expected, found, 1e-6)).toEqual(['query 6: out of memory']);
  });
});

function answers(byQuery: Readonly<Record<number, string[][]>>): TpchAnswers {
  return { answers: byQuery, errors: {} };
}

import { expect, test } from 'vitest';
import { MessageBudget } from './message-budget.ts';

test('readers share a budget, and what one gives back another may take', () => {
  const budget = new MessageBudget(100);
  const [one, other] = [budget.share(), budget.share()];
  one.take(60);
  other.take(40);
  expect(() => other.take(1)).toThrow(expect.objectContaining({ code: 'overloaded', retryAfterSeconds: 1 }));
  one.clear();
  one.clear();
  other.take(60);
  expect(() => one.take(1)).toThrow('hold 100 bytes');
});

import { expect, test } from 'vitest';
import { principalOf } from '../../../../test/support/principals.ts';
import { CancellableTickets } from './cancellable-tickets.ts';

const owner = principalOf();
const { signal } = new AbortController();
const ticket = Buffer.from('a ticket');

async function* endless(stop: AbortSignal): AsyncGenerator<number> {
  for (let n = 0; ; n++) {
    if (stop.aborted) throw new Error('stopped');
    await new Promise(setImmediate);
    yield n;
  }
}

async function begun(
  ...[cancellable, ...request]: [CancellableTickets, ...Parameters<typeof CancellableTickets.prototype.run<number>>]
): Promise<AsyncGenerator<number>> {
  return (await cancellable.run(...request)) as AsyncGenerator<number>;
}

test('a running query is cancelled by its ticket, others go on', async () => {
  const cancellable = new CancellableTickets();
  const cancelled = await begun(cancellable, owner, ticket, signal, endless);
  const other = await begun(cancellable, owner, Buffer.from('another'), signal, endless);
  await cancelled.next();
  await other.next();
  cancellable.cancel(owner, ticket);
  await expect(cancelled.next()).rejects.toMatchObject({ status: 'CANCELLED' });
  expect((await other.next()).done).toBe(false);
  await other.return(undefined);
});

test('a query that was cancelled before it began does not begin', async () => {
  const cancellable = new CancellableTickets();
  cancellable.cancel(owner, ticket);
  await expect(cancellable.run(owner, ticket, signal, endless)).rejects.toMatchObject({ status: 'CANCELLED' });
});

test('a query that is cancelled while its rows are made gives none of them', async () => {
  const cancellable = new CancellableTickets();
  const query = cancellable.run(owner, ticket, signal, async () => {
    cancellable.cancel(owner, ticket);
    return [1, 2];
  });
  await expect(query).rejects.toMatchObject({ status: 'CANCELLED' });
});

test("a caller's own cancellation keeps its own reason", async () => {
  const cancellable = new CancellableTickets();
  const caller = new AbortController();
  const query = await begun(cancellable, owner, ticket, caller.signal, endless);
  await query.next();
  caller.abort();
  await expect(query.next()).rejects.toThrow('stopped');
});

test('a ticket of the same bytes of another caller cancels nothing', async () => {
  const cancellable = new CancellableTickets();
  const query = await begun(cancellable, owner, ticket, signal, endless);
  await query.next();
  cancellable.cancel(principalOf('desk'), ticket);
  expect((await query.next()).done).toBe(false);
  await query.return(undefined);
});

import { expect, test } from 'vitest';
import { CancellableTickets } from './cancellable-tickets.ts';

const { signal } = new AbortController();
const ticket = Buffer.from('a ticket');

async function* endless(stop: AbortSignal): AsyncGenerator<number> {
  for (let n = 0; ; n++) {
    if (stop.aborted) throw new Error('stopped');
    await new Promise(setImmediate);
    yield n;
  }
}

test('a running query is cancelled by its ticket, others go on', async () => {
  const cancellable = new CancellableTickets();
  const cancelled = cancellable.run(ticket, signal, endless);
  const other = cancellable.run(Buffer.from('another'), signal, endless);
  await cancelled.next();
  await other.next();
  cancellable.cancel(ticket);
  await expect(cancelled.next()).rejects.toMatchObject({ status: 'CANCELLED' });
  expect((await other.next()).done).toBe(false);
  await other.return(undefined);
});

test('a query that was cancelled before it began does not begin', async () => {
  const cancellable = new CancellableTickets();
  cancellable.cancel(ticket);
  await expect(cancellable.run(ticket, signal, endless).next()).rejects.toMatchObject({ status: 'CANCELLED' });
});

test("a caller's own cancellation keeps its own reason", async () => {
  const cancellable = new CancellableTickets();
  const caller = new AbortController();
  const query = cancellable.run(ticket, caller.signal, endless);
  await query.next();
  caller.abort();
  await expect(query.next()).rejects.toThrow('stopped');
});

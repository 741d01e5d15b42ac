import { createHash } from 'node:crypto';
import { GrpcError } from '@framehold/grpc';
import { LinkedAbort } from '../../../core/async/linked-abort.ts';
import { ownerKey, type Principal } from '../../../core/callers/principal.ts';
import { OwnedMap } from '../../request/owned-map.ts';

const maxRemembered = 10_000;

/** Queries by their tickets, so that another call can cancel them. A cancelled one that has not begun never will. */
export class CancellableTickets {
  readonly #running = new Map<string, Set<LinkedAbort>>();
  readonly #cancelled = new OwnedMap<true>(maxRemembered);

  /**
   * Messages of a query that may be cancelled by its ticket. `open` gets the signal that is aborted then, and with `signal`. A stream
   * must be read, or at least begun.
   */
  async run<T>(
    owner: Principal,
    ticket: Uint8Array,
    signal: AbortSignal,
    open: (signal: AbortSignal) => AsyncIterable<T> | Promise<AsyncIterable<T> | readonly T[]>,
  ): Promise<AsyncIterable<T> | readonly T[]> {
    const id = idOf(ticket);
    const key = `${ownerKey(owner)} ${id}`;
    if (this.#cancelled.has(owner, id)) throw cancelled();
    const abort = new LinkedAbort([signal]);
    const isCancelled = (): boolean => abort.signal.aborted && !signal.aborted;
    const ofTicket = this.#running.get(key) ?? new Set();
    this.#running.set(key, ofTicket.add(abort));
    const end = (): void => {
      abort[Symbol.dispose]();
      ofTicket.delete(abort);
      if (ofTicket.size === 0) this.#running.delete(key);
    };
    async function* watched(messages: AsyncIterable<T>): AsyncGenerator<T> {
      try {
        for await (const message of messages) {
          if (isCancelled()) throw cancelled();
          yield message;
        }
      } catch (error) {
        throw isCancelled() ? cancelled() : error;
      } finally {
        end();
      }
    }
    try {
      const messages = await open(abort.signal);
      if (Symbol.asyncIterator in messages) return watched(messages);
      if (isCancelled()) throw cancelled();
      end();
      return messages;
    } catch (error) {
      end();
      throw isCancelled() ? cancelled() : error;
    }
  }

  cancel(owner: Principal, ticket: Uint8Array): void {
    const id = idOf(ticket);
    this.#cancelled.set(owner, id, true);
    for (const abort of this.#running.get(`${ownerKey(owner)} ${id}`) ?? []) abort.abort(cancelled());
  }
}

function cancelled(): GrpcError {
  return new GrpcError('CANCELLED', 'the query was cancelled');
}

/** Tickets may be as long as the SQL in them, and many are remembered. */
const longestKey = 400;

function idOf(ticket: Uint8Array): string {
  const isShort = ticket.length <= longestKey;
  return isShort ? Buffer.from(ticket).toString('latin1') : createHash('sha256').update(ticket).digest('base64');
}

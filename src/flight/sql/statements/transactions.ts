import { randomBytes } from 'node:crypto';
import type { Principal } from '../../../core/callers/principal.ts';
import { AppError } from '../../../core/errors/app-error.ts';
import { OwnedMap } from '../../request/owned-map.ts';

export interface Transaction {
  readonly id: string;
  /** The frames that it wrote, in words for people. */
  readonly writes: string[];
  writeCount: number;
}

const maxTransactions = 100_000;
const maxNamedWrites = 3;

/**
 * Transactions as far as we have them: every statement is atomic and durable when it returns, so a commit has nothing left to do and
 * a rollback can only be granted where nothing was written. They exist because drivers (ADBC's DB-API) begin one on each connection.
 */
export class Transactions {
  readonly #open = new OwnedMap<Transaction>(maxTransactions);

  /** Abandoned ones are forgotten, the least recently used first; no other time limit, as connections sleep in pools. */
  begin(owner: Principal): Uint8Array {
    const bytes = randomBytes(16);
    const id = bytes.toString('hex');
    this.#open.set(owner, id, { id, writes: [], writeCount: 0 });
    return bytes;
  }

  /** The transaction of a statement: undefined for none. */
  find(owner: Principal, id: Uint8Array | undefined): Transaction | undefined {
    if (id === undefined || id.length === 0) return undefined;
    const transaction = this.known(owner, id);
    if (transaction === undefined) {
      throw new AppError('not_found', `there is no transaction ${Buffer.from(id).toString('hex').slice(0, 40)}`, {
        hint: 'it has ended, or the server was restarted since; begin another one',
      });
    }
    return transaction;
  }

  /** Undefined where it was forgotten. */
  known(owner: Principal, id: Uint8Array): Transaction | undefined {
    return this.#open.get(owner, Buffer.from(id).toString('hex'));
  }

  isOpen(owner: Principal, { id }: Transaction): boolean {
    return this.#open.has(owner, id);
  }

  end(owner: Principal, id: Uint8Array, outcome: 'commit' | 'rollback'): void {
    const transaction = this.find(owner, id);
    if (transaction === undefined) throw new AppError('missing_parameter', 'transaction_id is missing');
    // It stays open then, so that the client can still commit and go on.
    if (outcome === 'rollback' && transaction.writeCount > 0) throw cannotRollBack(transaction);
    this.#open.delete(owner, transaction.id);
  }
}

export function noteWrite(transaction: Transaction | undefined, what: string): void {
  if (transaction === undefined) return;
  transaction.writeCount += 1;
  if (transaction.writes.length < maxNamedWrites) transaction.writes.push(what);
}

/** SQL text short enough to be named in a message. */
export function statementName(sql: string): string {
  const line = sql.trim().replace(/\s+/g, ' ');
  return line.length > 80 ? `${line.slice(0, 80)}…` : line;
}

function cannotRollBack({ writes, writeCount }: Transaction): AppError {
  const more = writeCount > writes.length ? ` and ${writeCount - writes.length} more` : '';
  return new AppError('sql_forbidden', `cannot roll back what is durable already: ${writes.join('; ')}${more}`, {
    hint: 'every statement is final when it returns; commit instead, and undo it with statements of your own',
  });
}

import type { Principal } from '../../../core/callers/principal.ts';
import { AppError } from '../../../core/errors/app-error.ts';
import type { AnalysedStatement, PreparedSql } from '../../../query/frame-sql.ts';
import { OwnedMap } from '../../request/owned-map.ts';
import { pooledRandomBytes } from '../messages/random-bytes.ts';
import type { Transaction } from './transactions.ts';

/** Parameter values: an Arrow IPC stream, and a name for exactly these values. */
export interface Binding {
  readonly id: number;
  readonly parameters: Uint8Array;
}

export interface ClientStatement extends PreparedSql {
  readonly handle: Uint8Array;
  /** No other caller finds it. */
  readonly owner: Principal;
  readonly sql: string;
  /** With the engine that it was prepared on. Undefined: it is about the session, and no engine sees it. */
  readonly statement: AnalysedStatement | undefined;
  /** The encapsulated schema of its result. */
  readonly schema: Uint8Array;
  /** The transaction of its preparation. It may have ended since: drivers go on using their statements after a commit. */
  readonly transaction: Transaction | undefined;
  readonly binding: Binding | undefined;
}

export interface PreparedStatementLimits {
  /** Default 10,000. */
  readonly maxCount?: number;
  /** SQL text, analyses, schemas and bound parameters of all together. Default 256 MiB. */
  readonly maxBytes?: number;
  /** Default a day. */
  readonly idleMs?: number;
  /** Milliseconds that run evenly. */
  readonly now?: () => number;
}

interface Held {
  readonly statement: ClientStatement;
  readonly usedAt: number;
}

export const statementIdleMs = 24 * 3_600_000;

/** Prepared statements by random handle. Clients that vanish never close theirs: the least recently used make room. */
export class PreparedStatementRegistry {
  readonly #held: OwnedMap<Held>;
  readonly #idleMs: number;
  readonly #now: () => number;
  #bindings = 0;

  constructor({
    maxCount = 10_000,
    maxBytes = 256 * 2 ** 20,
    idleMs = statementIdleMs,
    now,
  }: PreparedStatementLimits = {}) {
    this.#held = new OwnedMap(maxCount, maxBytes);
    this.#idleMs = idleMs;
    this.#now = now ?? (() => performance.now());
  }

  add(statement: Omit<ClientStatement, 'handle' | 'binding'>): ClientStatement {
    return this.#keep({ ...statement, handle: pooledRandomBytes(16), binding: undefined });
  }

  get(owner: Principal, handle: Uint8Array): ClientStatement {
    const held = this.#held.get(owner, idOf(handle));
    if (held === undefined || held.usedAt + this.#idleMs < this.#now()) {
      throw new AppError('not_found', 'the prepared statement is not known', {
        hint: 'it was closed, not used for too long, or the server was restarted since; prepare it again',
      });
    }
    return this.#keep(held.statement);
  }

  /** From now on the statement runs with these parameters; undefined removes the present ones. */
  bind(owner: Principal, handle: Uint8Array, parameters: Uint8Array | undefined): ClientStatement {
    this.#bindings += 1;
    const binding = parameters && { id: this.#bindings, parameters };
    return this.#keep({ ...this.get(owner, handle), binding });
  }

  /** Closing an unknown one is no error: it may have made room for another. */
  close(owner: Principal, handle: Uint8Array): void {
    this.#held.delete(owner, idOf(handle));
  }

  get size(): number {
    return this.#held.size;
  }

  #keep(statement: ClientStatement): ClientStatement {
    const now = this.#now();
    const { owner, handle } = statement;
    this.#held.set(owner, idOf(handle), { statement, usedAt: now }, bytesOf(statement));
    this.#held.deleteOldestWhile(owner, ({ usedAt }) => usedAt < now - this.#idleMs);
    return statement;
  }
}

/** Approximate size of an analysis for a character of its query (text and positions) and for a table's name. */
const analysisBytes = { character: 16, table: 200 };

function bytesOf({ sql, statement, schema, binding }: ClientStatement): number {
  const bytes = 2 * sql.length + schema.length + (binding?.parameters.length ?? 0);
  if (statement === undefined || !('query' in statement)) return bytes;
  const { query } = statement;
  return bytes + analysisBytes.character * query.sql.length + analysisBytes.table * query.tables.length;
}

function idOf(handle: Uint8Array): string {
  return Buffer.from(handle).toString('latin1');
}

import type { Message } from '@framehold/grpc';
import type { Principal } from '../../../core/callers/principal.ts';
import { AppError } from '../../../core/errors/app-error.ts';
import type { ReturnedResult } from '../../../query/frame-sql.ts';
import type { Call } from '../../call.ts';
import { arrowSchema } from '../../data/arrow-schema.ts';
import { batchData, schemaData } from '../../data/flight-data.ts';
import { OwnedMap } from '../../request/owned-map.ts';
import { pooledRandomBytes } from '../messages/random-bytes.ts';

export interface ReturnedRowsLimits {
  /** Default 1000. */
  readonly maxCount?: number;
  /** Total of all. Default 256 MiB. */
  readonly maxBytes?: number;
  /** Default five minutes. */
  readonly keptMs?: number;
}

/** Rows of statements with RETURNING, which have run, until they are fetched by their ticket. */
export class ReturnedRows {
  readonly #kept: OwnedMap<readonly Message[]>;
  readonly #keptMs: number;

  constructor({ maxCount = 1000, maxBytes = 256 * 2 ** 20, keptMs = 5 * 60_000 }: ReturnedRowsLimits = {}) {
    this.#kept = new OwnedMap(maxCount, maxBytes);
    this.#keptMs = keptMs;
  }

  /** Gives the name under which they are found. */
  async keep({ principal: owner, lane }: Call, { columns, rows }: ReturnedResult): Promise<Uint8Array> {
    const messages: Message[] = [schemaData(await arrowSchema(columns, lane))];
    let total = 0;
    for await (const { bytes } of rows()) {
      messages.push(batchData(bytes));
      total += bytes.length;
    }
    const id = pooledRandomBytes(16);
    this.#kept.set(owner, nameOf(id), messages, total);
    setTimeout(() => this.#kept.delete(owner, nameOf(id)), this.#keptMs).unref();
    return id;
  }

  get(owner: Principal, id: Uint8Array): readonly Message[] {
    const messages = this.#kept.get(owner, nameOf(id));
    if (messages !== undefined) return messages;
    throw new AppError('not_found', 'the rows that the statement returned are no longer held', {
      hint: 'the statement has run, and is not run again: read the table',
    });
  }
}

function nameOf(id: Uint8Array): string {
  return Buffer.from(id).toString('latin1');
}

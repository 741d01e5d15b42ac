import { type Batch, CodedError, type Column, only } from '@framehold/columns';
import { ArrowStream } from '../columns/stream.ts';
import { UnfoldBudget } from '../format/unfold-budget.ts';
import { ownedBatch, ownedColumns } from './owned-batch.ts';

/** A few bytes may expand to many: compressed ones, views, dictionaries. */
const mostBytes = 8 * 1024 * 1024;

export interface OwnedBatches {
  readonly columns: readonly Column[];
  /** None is without rows. */
  readonly batches: readonly Batch[];
}

/**
 * A small and whole Arrow IPC stream as batches in memory of their own, with the columns of a frame made of it. Undefined if that
 * is left to the engine: it converts more types, and reports the faults of a stream.
 */
export async function readBatches(bytes: Uint8Array): Promise<OwnedBatches | undefined> {
  try {
    await using stream = await ArrowStream.open(only(bytes), new UnfoldBudget(mostBytes));
    const columns = ownedColumns(stream.fields);
    if (columns === undefined) return undefined;
    const batches: Batch[] = [];
    let held = 0;
    for await (const rows of stream.rows()) {
      if (rows.rows === 0) continue;
      const batch = ownedBatch(rows, columns);
      if (batch === undefined) return undefined;
      held += batch.vectors.reduce((sum, { data }) => sum + (data?.length ?? 0), 0);
      if (held > mostBytes) return undefined;
      batches.push(batch);
    }
    return { columns, batches };
  } catch (error) {
    if (error instanceof CodedError) return undefined;
    throw error;
  }
}

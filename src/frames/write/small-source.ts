import { type OwnedBatches, readBatches } from '@framehold/arrow-ipc';
import { type Batch, bytesOfVectors, only } from '@framehold/columns';
import type { RowSource } from '../../core/rows/frame-engine.ts';

/** Longer input becomes a part at once. */
export const mostSmallBytes = 256 * 1024;
const mostBatchRows = 1_000_000;
const mostBatchBytes = 16 * 1024 * 1024;

export interface OpenSource {
  /** The same rows as were given, still to be read. */
  readonly source: RowSource;
  /** All of them in memory, where they are few. */
  readonly batches: readonly Batch[] | undefined;
}

/** Looks whether a source has so few rows that they may go to a log. */
export async function openSource(source: RowSource): Promise<OpenSource> {
  if (source.kind === 'batch') return { source, batches: isSmall(source.batch) ? [source.batch] : undefined };
  if (source.kind !== 'arrow') return { source, batches: undefined };
  const iterator = source.stream[Symbol.asyncIterator]();
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  while (bytes <= mostSmallBytes) {
    const next = await iterator.next();
    if (next.done === true) {
      const whole = Buffer.concat(pieces);
      return { source: { kind: 'arrow', stream: only(whole) }, batches: batchesOf(await readBatches(whole)) };
    }
    bytes += next.value.length;
    // A piece is valid only until the next one is read.
    pieces.push(Buffer.from(next.value));
  }
  return { source: { kind: 'arrow', stream: resumed(pieces, iterator) }, batches: undefined };
}

/** At least one: it says which columns there are. */
function batchesOf(read: OwnedBatches | undefined): readonly Batch[] | undefined {
  if (read === undefined || read.batches.length > 0) return read?.batches;
  return [{ columns: read.columns, rows: 0, vectors: [] }];
}

export function isSmall({ rows, vectors }: Batch): boolean {
  return rows <= mostBatchRows && bytesOfVectors(vectors) <= mostBatchBytes;
}

async function* resumed(
  pieces: readonly Uint8Array[],
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* pieces;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

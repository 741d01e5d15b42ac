import type { Batch } from '@framehold/columns';
import { AppError } from '../../core/errors/app-error.ts';
import type { Handle } from '../../core/names/handle.ts';
import type { FirstNull } from '../../core/rows/frame-engine.ts';
import type { Manifest } from '../disk/manifest.ts';

/** Rejects batches with a NULL in a NOT NULL column of the frame. */
export function assertNoNulls(
  handle: Handle,
  { columns, constraints }: Pick<Manifest, 'columns' | 'constraints'>,
  batches: readonly Batch[],
): void {
  for (const column of constraints?.notNull ?? []) {
    const index = columns.findIndex(({ name }) => name === column);
    let rowsBefore = 0;
    for (const { rows, vectors } of batches) {
      const row = firstNull(vectors[index]?.validity ?? null, rows);
      if (row !== undefined) throw takesNoNull(handle, { column, row: rowsBefore + row });
      rowsBefore += rows;
    }
  }
}

/** Rejects a file in which the engine found NULLs. */
export function assertNoneFound(handle: Handle, found: readonly FirstNull[]): void {
  const [first] = found;
  if (first !== undefined) throw takesNoNull(handle, first);
}

function takesNoNull(handle: Handle, { column, row }: FirstNull): AppError {
  const where = row === undefined ? '' : ` in row ${row + 1} of these`;
  return new AppError('schema_mismatch', `column ${JSON.stringify(column)} of ${handle} is NULL${where}`, {
    hint: 'the column is NOT NULL: give every row a value',
  });
}

function firstNull(validity: Uint8Array | null, rows: number): number | undefined {
  if (validity === null) return undefined;
  for (let byte = 0; byte * 8 < rows; byte++) {
    const bits = validity[byte] ?? 0;
    if (bits === 0xff) continue;
    for (let row = byte * 8; row < Math.min(rows, byte * 8 + 8); row++) if ((bits & (1 << (row & 7))) === 0) return row;
  }
  return undefined;
}

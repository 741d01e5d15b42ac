import { type Column, joinBytes } from '@framehold/columns';
import type { ChunkForm } from '../../core/rows/frame-engine.ts';
import { rowEncoder } from '../../encoding/row-encoder.ts';
import type { BatchSlice, Tail } from '../log/tail.ts';
import type { SentRows } from './row-slices.ts';

export interface TailRange {
  readonly form: ChunkForm;
  readonly fromRow: number;
  readonly toRow: number;
  /** Positions of columns. Default: all. */
  readonly select?: readonly number[] | undefined;
}

/** Encoding blocks the event loop: not for longer than this takes. */
const pieceBytes = 256 * 1024;

/** Rows of the log, encoded in this process. */
export function* tailRows(
  tail: Tail,
  columns: readonly Column[],
  { form, fromRow, toRow, select }: TailRange,
): Generator<SentRows, void, undefined> {
  const slices = tail.slices(columns, fromRow, toRow);
  let current: BatchSlice | undefined;
  let at = 0;
  for (;;) {
    // Other reads use the same encoder between two pieces.
    const encoder = rowEncoder(selected(columns, select), form);
    while (encoder.pendingBytes < pieceBytes) {
      if (current === undefined || at >= current.to) {
        const next = slices.next();
        if (next.done === true) {
          if (encoder.pendingRows > 0) yield sent(encoder.take());
          return;
        }
        current = selectedSlice(next.value, select);
        at = current.from;
      }
      at = encoder.encodeRows(current.batch, at, current.to, pieceBytes);
    }
    yield sent(encoder.take());
  }
}

function sent({ rows, pieces }: { readonly rows: number; readonly pieces: readonly Uint8Array[] }): SentRows {
  const [first] = pieces;
  return { rows, bytes: pieces.length === 1 && first !== undefined ? first : joinBytes(pieces) };
}

const selections = new WeakMap<readonly Column[], Map<string, readonly Column[]>>();

/** The same list for the same selection: by it an encoder is found again. */
function selected(columns: readonly Column[], select: readonly number[] | undefined): readonly Column[] {
  if (select === undefined) return columns;
  const known = selections.get(columns) ?? new Map<string, readonly Column[]>();
  selections.set(columns, known);
  const key = select.join();
  const chosen = known.get(key) ?? select.map((index) => columns[index] as Column);
  if (known.size < 100) known.set(key, chosen);
  return chosen;
}

function selectedSlice({ batch, from, to }: BatchSlice, select: readonly number[] | undefined): BatchSlice {
  if (select === undefined) return { batch, from, to };
  const vectors = select.map((index) => batch.vectors[index] as (typeof batch.vectors)[number]);
  return { batch: { columns: selected(batch.columns, select), rows: batch.rows, vectors }, from, to };
}

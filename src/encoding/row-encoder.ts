import { createArrowEncoder } from '@framehold/arrow-ipc';
import type { Batch, Column } from '@framehold/columns';
import type { ChunkForm } from '../core/rows/frame-engine.ts';
import { LruMap } from '../core/system/lru-map.ts';
import { columnsText } from './columns-text.ts';
import { createCsvEncoder } from './rows/csv.ts';
import { csvOptions } from './rows/csv-options.ts';
import { lineForm } from './rows/exec-cell.ts';
import { createExecJsonEncoder } from './rows/exec-json.ts';
import { createNdjsonEncoder } from './rows/ndjson.ts';
import type { RowTextEncoder } from './rows/row-text.ts';

/** Encoded rows in several buffers, in order. */
export interface EncodedPieces {
  readonly rows: number;
  readonly rowEnds: Uint32Array;
  /** Memory that only their taker has. */
  readonly pieces: readonly Uint8Array[];
}

export interface RowEncoder {
  readonly pendingBytes: number;
  readonly pendingRows: number;
  /** Appends rows up to `toRow`, or until `maxBytes` are pending; returns the row to go on with. */
  encodeRows(batch: Batch, fromRow: number, toRow: number, maxBytes: number): number;
  take(): EncodedPieces;
}

/** Encoders of the last jobs: a new one has no optimised code yet. */
const encoders = new LruMap<RowEncoder>(16);
const noRowEnds = new Uint32Array(0);

/** An encoder without pending rows, for one job at a time. */
export function rowEncoder(columns: readonly Column[], form: ChunkForm): RowEncoder {
  const key = `${form} ${columnsText(columns)}`;
  const known = encoders.get(key);
  if (known !== undefined) {
    // Drops the rest of a cancelled job.
    known.take();
    return known;
  }
  const encoder = newEncoder(columns, form);
  encoders.set(key, encoder);
  return encoder;
}

function newEncoder(columns: readonly Column[], form: ChunkForm): RowEncoder {
  switch (form) {
    case 'arrow':
      return arrowEncoder(columns);
    case 'exec-json':
    case 'exec-json-quoted':
    case 'exec-json-named':
    case 'exec-json-quoted-named': {
      const numbers = { quoteLargeNum: form.includes('-quoted'), quoteNonFinite: form.endsWith('-named') };
      return textEncoder(createExecJsonEncoder(columns, numbers));
    }
    case 'ndjson':
    case 'ndjson-named':
      return textEncoder(createNdjsonEncoder(columns, { ...lineForm, quoteNonFinite: form === 'ndjson-named' }));
    default:
      return textEncoder(createCsvEncoder(columns, csvOptions(form)));
  }
}

function arrowEncoder(columns: readonly Column[]): RowEncoder {
  const encoder = createArrowEncoder(columns);
  return withTake(encoder, () => ({ ...encoder.take(), rowEnds: noRowEnds }));
}

function textEncoder(encoder: RowTextEncoder): RowEncoder {
  return withTake(encoder, () => {
    const { rows, rowEnds, bytes } = encoder.take();
    return { rows, rowEnds, pieces: [bytes] };
  });
}

function withTake(encoder: Omit<RowEncoder, 'take'>, take: () => EncodedPieces): RowEncoder {
  return {
    get pendingBytes() {
      return encoder.pendingBytes;
    },
    get pendingRows() {
      return encoder.pendingRows;
    },
    encodeRows: (batch, fromRow, toRow, maxBytes) => encoder.encodeRows(batch, fromRow, toRow, maxBytes),
    take,
  };
}

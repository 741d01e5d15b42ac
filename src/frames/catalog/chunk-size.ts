import { type Column, type DataType, fixedSizeBytes } from '@framehold/columns';
import type { ChunkForm } from '../../core/rows/frame-engine.ts';

const targetChunkBytes = 1024 * 1024;
const fewestRows = 16;
const mostRows = 65_536;

/** Arrow's chunks are multiples of this, where they are not smaller: no bitmap is cut inside a byte. */
const arrowStepRows = 512;

/** Number of rows in a chunk of about 1 MiB in a form. */
export function chunkRowsOf(
  form: ChunkForm,
  frame: { readonly rows: number; readonly columns: readonly Column[]; readonly uncompressedBytes: number },
): number {
  const rowBytes = form === 'arrow' ? arrowRowBytes(frame.columns) : textRowBytes(form, frame);
  const rows = targetChunkBytes / Math.max(rowBytes, 1);
  // Arrow is mostly read whole, and the fewer messages the better. Pages of JSON often begin at round rows.
  const isStepped = form === 'arrow' && rows >= arrowStepRows;
  const roundRows = isStepped ? rows - (rows % arrowStepRows) : 2 ** Math.floor(Math.log2(rows));
  return Math.min(mostRows, Math.max(fewestRows, roundRows));
}

function textRowBytes(
  form: ChunkForm,
  { rows, columns, uncompressedBytes }: Parameters<typeof chunkRowsOf>[1],
): number {
  const storedRowBytes = rows === 0 ? 0 : uncompressedBytes / rows;
  const nameBytes = form.startsWith('ndjson') ? columns.reduce((sum, { name }) => sum + name.length + 3, 0) : 0;
  // Parquet's dictionaries make stored rows look small; text spells every value out, about 12 bytes each and more for strings.
  return storedRowBytes * 1.5 + columns.length * 12 + nameBytes;
}

function arrowRowBytes(columns: readonly Column[]): number {
  return columns.reduce((sum, { type }) => sum + valueBytes(type), 0);
}

/** For types without a fixed size, a guess. */
function valueBytes(type: DataType): number {
  switch (type.kind) {
    case 'null':
      return 0;
    case 'boolean':
      return 1 / 8;
    case 'int':
    case 'float':
    case 'date':
    case 'time':
    case 'timestamp':
    case 'decimal':
    case 'interval':
      return fixedSizeBytes(type);
    case 'utf8':
    case 'binary':
      return 16;
    case 'uuid':
    case 'json':
      return 40;
    case 'array':
      return type.size * valueBytes(type.element);
    case 'list':
      return 4 + 4 * valueBytes(type.element);
    case 'map':
      return 4 + 4 * (valueBytes(type.key) + valueBytes(type.value));
    case 'struct':
      return arrowRowBytes(type.fields);
    case 'union':
      return 1 + arrowRowBytes(type.members);
    default:
      return type satisfies never;
  }
}

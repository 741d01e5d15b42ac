import type { Batch, Column } from '@framehold/columns';
import { utf8ByteOrderMark } from '../../text/text-encoding.ts';
import type { CsvDialect } from '../csv-dialect.ts';
import { csvRecord } from '../csv-records.ts';
import type { FastField } from './fast-column.ts';
import { FastCsvRows, type LineEnd } from './fast-csv-rows.ts';
import { fastField, type PlannedField } from './fast-field.ts';
import { type LineBlock, LineBlocks, NeedsFullReader } from './line-blocks.ts';

/** Characters that occur in no value that this reader accepts. */
const delimiters = [',', ';', '\t', '|'];
/** The memory of a batch grows with them. */
const mostColumns = 100;
/** Bytes of the file in a batch: its texts are held in memory. */
const mostBatchBytes = 32 * 1024 * 1024;

/**
 * A fast reader for CSV files in simple form, as most are. Its values equal those of DuckDB and the conversions of this
 * folder, to the bit; it gives up with NeedsFullReader wherever that is not certain. Undefined: it does not support such
 * columns.
 */
export function fastReader(dialect: CsvDialect, planned: readonly PlannedField[]): FastReader | undefined {
  if (!delimiters.includes(dialect.delimiter) || dialect.blankLines > 0 || planned.length > mostColumns)
    return undefined;
  const fields = planned.flatMap((field) => fastField(field) ?? []);
  return fields.length === dialect.names.length ? new FastReader(dialect, fields) : undefined;
}

class FastReader {
  readonly columns: readonly Column[];
  readonly #dialect: CsvDialect;
  readonly #fields: readonly FastField[];

  constructor(dialect: CsvDialect, fields: readonly FastField[]) {
    this.columns = fields.map((field) => field.column);
    this.#dialect = dialect;
    this.#fields = fields;
  }

  /** The file holds no NUL. A batch is valid until the next one is read: they share their memory. */
  async *batches(path: string, signal: AbortSignal): AsyncGenerator<Batch, void, undefined> {
    await using blocks = await LineBlocks.open(path);
    let block = await blocks.next();
    const { lineEnd, start } = beginning(block, this.#dialect);
    const rows = new FastCsvRows(this.#fields, this.#dialect.delimiter, lineEnd);
    let batchBytes = 0;
    for (let at = start; ; ) {
      const end = rows.read(block.bytes, at, block.limit);
      batchBytes += end - at;
      at = end;
      const { isFull } = rows;
      if (isFull || batchBytes > mostBatchBytes) {
        yield rows.take();
        batchBytes = 0;
      }
      if (isFull) continue;
      if (block.isLast) {
        if (at < block.limit) throw new NeedsFullReader('a quote is not closed');
        break;
      }
      signal.throwIfAborted();
      block = await blocks.next(at, lineEnd);
      at = block.start;
    }
    if (rows.count > 0) yield rows.take();
  }
}

/** The line end of the file, and the start of its first row. */
function beginning({ bytes, start, limit }: LineBlock, { delimiter, hasHeader }: CsvDialect): Beginning {
  const hasMark = bytes.subarray(start, start + utf8ByteOrderMark.length).equals(utf8ByteOrderMark);
  const first = hasMark ? start + utf8ByteOrderMark.length : start;
  const record = csvRecord(bytes.subarray(0, limit), first, delimiter.charCodeAt(0), false);
  if (record === undefined || record.fault !== undefined) throw new NeedsFullReader('the first line has no end');
  const lineEnd = bytes.toString('latin1', record.end, record.next);
  if (lineEnd !== '\n' && lineEnd !== '\r\n') throw new NeedsFullReader('lines end in a carriage return');
  return { lineEnd, start: hasHeader ? record.next : first };
}

interface Beginning {
  readonly lineEnd: LineEnd;
  readonly start: number;
}

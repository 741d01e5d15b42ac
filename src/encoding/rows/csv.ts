import { type Batch, ByteSink, type Column, CR, LF, viewOf } from '@framehold/columns';
import type { CsvForm } from '../../core/rows/frame-engine.ts';
import { type CsvCell, csvCell } from './csv-cell.ts';
import { type CsvWriteOptions, csvOptions } from './csv-options.ts';
import { csvText } from './csv-text.ts';
import { createRowTextEncoder, type RowTextEncoder } from './row-text.ts';

/**
 * Rows as lines of RFC 4180. Each cell writes the byte before it: the delimiter or, first in a row, the line feed of the row
 * before once more. That way the quotes of the JSON writers overwrite bytes that are written anyway.
 */
export function createCsvEncoder(columns: readonly Column[], options: CsvWriteOptions): RowTextEncoder {
  const sink = new ByteSink();
  const cells = columns.map(({ type }) => csvCell(sink, type, options));
  const delimiter = options.delimiter.charCodeAt(0);
  const lines = {
    columnCount: cells.length,
    bind({ vectors }: Batch) {
      for (const [i, vector] of vectors.entries()) (cells[i] as CsvCell).bind(vector);
    },
    write(row: number, start: number) {
      let at = start - 1;
      for (let i = 0; i < cells.length; i++) at = (cells[i] as CsvCell).write(row, at, i === 0 ? LF : delimiter);
      return endLine(sink, cells.length === 0 ? start : at);
    },
  };
  return createRowTextEncoder(sink, lines, 1);
}

/** The names of the columns, as a line before the rows. */
export function csvHeader(columns: readonly Column[], form: CsvForm): Uint8Array {
  const options = csvOptions(form);
  const sink = new ByteSink();
  const writeText = csvText(sink, options);
  const delimiter = options.delimiter.charCodeAt(0);
  let at = 0;
  for (const [i, { name }] of columns.entries()) {
    const bytes = new TextEncoder().encode(name);
    at = writeText(i === 0 ? at : sink.byte(at, delimiter), viewOf(bytes), 0, bytes.length, bytes);
  }
  return sink.take(0, endLine(sink, at));
}

function endLine(sink: ByteSink, at: number): number {
  sink.reserve(at, 2).setUint16(at, (CR << 8) | LF);
  return at + 2;
}

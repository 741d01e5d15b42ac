import type { Column } from '../core/data-type.ts';
import type { ChunkForm, Compression, EncodedRows } from '../core/frame-engine.ts';
import type { Exchange } from './route.ts';

export const tableFormats = ['csv', 'tsv', 'json', 'ndjson', 'arrow', 'parquet'] as const;

/** How a table is to be written. */
export interface TableFormat {
  readonly fmt: (typeof tableFormats)[number];
  /** Between the fields of `csv`. */
  readonly delimiter: string;
  /** `csv` and `tsv` begin with the names of the columns; `json` has them with the query. */
  readonly hasNames: boolean;
  /** See `CsvForm`. */
  readonly escapesFormulas: boolean;
  /** Of `json`: every LONG as a string. */
  readonly quoteLargeNum: boolean;
  /** Of `parquet`; undefined: as the server is configured. */
  readonly compression: Compression | undefined;
  /** Without its ending. Undefined: shown rather than saved, where a browser can. */
  readonly filename: string | undefined;
}

/** Rows that are read once, in one form. */
export interface OpenTable extends AsyncDisposable {
  readonly columns: readonly Column[];
  rows(): AsyncIterable<Pick<EncodedRows, 'rows' | 'bytes'>>;
}

/** Where a table comes from: a frame, or a statement that runs when it is opened. */
export interface TableSource {
  /** `query` of the JSON format. */
  readonly query: string;
  open(form: ChunkForm): Promise<OpenTable>;
}

/** Answers with the table. An error after the first byte cuts the connection, so that nobody takes it for whole. */
export async function sendTable(_exchange: Exchange, _source: TableSource, _format: TableFormat): Promise<void> {
  throw new Error('not written yet');
}

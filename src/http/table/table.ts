import type { Column } from '../../core/data-type.ts';
import type { FileFormatName } from '../../core/file-format.ts';
import type { ChunkForm, Compression, EncodedRows } from '../../core/frame-engine.ts';
import type { ReadRequest } from '../../frames/read/read-frame.ts';
import type { EngineReport } from '../exchange/requested-engine.ts';

/** How a table is to be written. */
export interface TableFormat {
  readonly fmt: FileFormatName;
  /** Between the fields of `csv`. */
  readonly delimiter: string;
  /** `csv` and `tsv` begin with the names of the columns; `json` has them with the query. */
  readonly hasNames: boolean;
  /** See `CsvForm`. */
  readonly escapesFormulas: boolean;
  /** Of `json`: every LONG as a string. */
  readonly quoteLargeNum: boolean;
  /** Of `json` and `ndjson`: NaN and what is infinite as strings. */
  readonly quoteNonFinite: boolean;
  /** Of `parquet`; undefined: as the server is configured. */
  readonly compression: Compression | undefined;
  /** With or without its ending. Undefined: shown rather than saved, where a browser can. */
  readonly filename: string | undefined;
}

/** Rows that are read once, in one form. */
export interface OpenTable extends AsyncDisposable {
  readonly columns: readonly Column[];
  /** The id of the frame's version whose rows these are. Undefined: of a statement or a view, which may give others the next time. */
  readonly versionId?: string | undefined;
  rows(): AsyncIterable<Pick<EncodedRows, 'rows' | 'bytes'>>;
}

/** What a statement with RETURNING changed, beside its rows. */
export interface ChangeReport {
  readonly dml: 'OK';
  readonly updated: number;
}

/** Where a table comes from: a frame, or a statement that runs when it is opened. */
export interface TableSource {
  /** `query` of the JSON format. */
  readonly query: string;
  /** Of the JSON format too. */
  readonly told?: EngineReport | undefined;
  /** Of a statement that changes rows, when it is done. Of the JSON format too. */
  readonly changed?: (() => ChangeReport) | undefined;
  /** `needsRows`: see `ReadRequest`; a statement ignores it. */
  open(form: ChunkForm, needsRows: NonNullable<ReadRequest['needsRows']>): Promise<OpenTable>;
}

import type { Column, EncodedRows } from '@framehold/columns';
import type { FileFormatName } from '../../core/rows/file-format.ts';
import type { ChunkForm, Compression } from '../../core/rows/frame-engine.ts';
import type { ReadRequest } from '../../frames/read/read-frame.ts';
import type { EngineReport } from '../exchange/requested-engine.ts';

/** The format of a table. */
export interface TableFormat {
  readonly fmt: FileFormatName;
  /** Between the fields of `csv`. */
  readonly delimiter: string;
  /** `csv` and `tsv` begin with the names of the columns; `json` has them with the query. */
  readonly hasNames: boolean;
  /** See `CsvForm`. */
  readonly escapesFormulas: boolean;
  /** For `json`: every LONG as a string. */
  readonly quoteLargeNum: boolean;
  /** For `json` and `ndjson`: NaN and infinities as strings. */
  readonly quoteNonFinite: boolean;
  /** For `parquet`; undefined: the server's configured one. */
  readonly compression: Compression | undefined;
  /** With or without its ending. Undefined: shown rather than saved, where a browser can. */
  readonly filename: string | undefined;
}

/** Rows that are read once, in one form. */
export interface OpenTable extends AsyncDisposable {
  readonly columns: readonly Column[];
  /** The id of the frame's version of these rows. Undefined: of a statement or a view, whose rows may differ the next time. */
  readonly versionId?: string | undefined;
  rows(): AsyncIterable<Pick<EncodedRows, 'rows' | 'bytes'>>;
}

/** The changes of a statement with RETURNING, beside its rows. */
export interface ChangeReport {
  readonly dml: 'OK';
  readonly updated: number;
}

/** The source of a table: a frame, or a statement that runs when it is opened. */
export interface TableSource {
  /** `query` of the JSON format. */
  readonly query: string;
  /** For the JSON format too. */
  readonly engineReport?: EngineReport | undefined;
  /** For a statement that changes rows, at its end. For the JSON format too. */
  readonly changed?: (() => ChangeReport) | undefined;
  /** `needsRows`: see `ReadRequest`; a statement ignores it. */
  open(form: ChunkForm, needsRows: NonNullable<ReadRequest['needsRows']>): Promise<OpenTable>;
}

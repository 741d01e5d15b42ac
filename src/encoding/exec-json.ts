import type { Batch } from '../core/batch.ts';
import type { Column } from '../core/data-type.ts';
import type { EncodedRows } from '../core/frame-engine.ts';
import { ByteSink } from './byte-sink.ts';
import type { Cell } from './cell.ts';
import { execCell } from './exec-cell.ts';
import { execColumn } from './exec-column.ts';

const COMMA = 44;
const encoder = new TextEncoder();

export interface ExecJsonOptions {
  /** Every LONG as a string. */
  readonly quoteLargeNum: boolean;
}

/** Rows as `[cell,cell,…],` one behind the other. */
export interface ExecJsonEncoder {
  /** What `take` would give. */
  readonly pendingBytes: number;
  readonly pendingRows: number;
  encode(batch: Batch): void;
  /**
   * Appends rows [fromRow, toRow) of the batch, but stops behind the row that makes `maxBytes` pending.
   * Returns the row to go on with. A batch must not change until its last row is encoded.
   */
  encodeRows(batch: Batch, fromRow: number, toRow: number, maxBytes?: number): number;
  /** The pending rows, in memory of their own that may be transferred. */
  take(): EncodedRows;
}

export function createExecJsonEncoder(columns: readonly Column[], options: ExecJsonOptions): ExecJsonEncoder {
  const sink = new ByteSink();
  const cells = columns.map((column) => execCell(sink, column.type, options.quoteLargeNum));
  let rowEnds = new Uint32Array(1024);
  let rows = 0;
  let end = 0;
  let bound: Batch | undefined;

  function bind(batch: Batch): void {
    if (batch.vectors.length !== cells.length) {
      throw new RangeError(`a batch of ${batch.vectors.length} columns where ${cells.length} are expected`);
    }
    for (const [i, vector] of batch.vectors.entries()) (cells[i] as Cell).bind(vector);
    bound = batch;
  }

  function writeRow(row: number, start: number): number {
    let at = start;
    for (let i = 0; i < cells.length; i++) {
      at = (cells[i] as Cell).write(row, sink.byte(at, i === 0 ? 91 : COMMA));
    }
    if (cells.length === 0) at = sink.byte(at, 91);
    sink.reserve(at, 2).setUint16(at, 0x5d2c);
    return at + 2;
  }

  function encodeRows(batch: Batch, fromRow: number, toRow: number, maxBytes = Number.POSITIVE_INFINITY): number {
    if (batch !== bound) bind(batch);
    let row = fromRow;
    while (row < toRow && end < maxBytes) {
      end = writeRow(row++, end);
      if (rows === rowEnds.length) rowEnds = grown(rowEnds);
      rowEnds[rows++] = end;
    }
    if (row >= batch.rows) bound = undefined;
    return row;
  }

  return {
    get pendingBytes() {
      return end;
    },
    get pendingRows() {
      return rows;
    },
    encode(batch) {
      encodeRows(batch, 0, batch.rows);
    },
    encodeRows,
    take() {
      const taken = { rows, bytes: sink.take(end), rowEnds: rowEnds.slice(0, rows) };
      rows = 0;
      end = 0;
      return taken;
    },
  };
}

/** `{"query":…,"columns":[…],"dataset":[`, to stand before the rows. */
export function execJsonHead(query: string, columns: readonly Column[]): Uint8Array {
  return encoder.encode(
    `{"query":${JSON.stringify(query)},"columns":${JSON.stringify(columns.map(execColumn))},"dataset":[`,
  );
}

/** `],"count":N}`, to stand behind the rows without their last comma. */
export function execJsonTail(count: number): Uint8Array {
  return encoder.encode(`],"count":${count}}`);
}

/** What stands before the rows of a statement: as QuestDB has it, and without its metadata when that is not wanted. */
export function execSqlHead(
  metadata: { readonly query: string; readonly columns: readonly Column[] } | undefined,
): Uint8Array {
  if (metadata === undefined) return encoder.encode('{"dataset":[');
  const { query, columns } = metadata;
  const described = JSON.stringify(columns.map(execColumn));
  return encoder.encode(`{"query":${JSON.stringify(query)},"columns":${described},"timestamp":-1,"dataset":[`);
}

export function execSqlTail(tail: {
  readonly count: number;
  readonly timings: { readonly compilerNs: bigint; readonly executeNs: bigint } | undefined;
  readonly explain: boolean;
}): Uint8Array {
  const { count, timings, explain } = tail;
  let text = `],"count":${count}`;
  if (timings !== undefined) {
    const { compilerNs, executeNs } = timings;
    text += `,"timings":{"authentication":0,"compiler":${compilerNs},"execute":${executeNs},"count":0}`;
  }
  if (explain) text += ',"explain":{"jitCompiled":false}';
  return encoder.encode(`${text}}`);
}

function grown(values: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(values.length * 2);
  larger.set(values);
  return larger;
}

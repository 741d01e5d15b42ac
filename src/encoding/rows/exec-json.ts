import { ByteSink, COMMA, type Column, type EncodedRows } from '@framehold/columns';
import type { JsonNumbers } from '../../core/rows/frame-engine.ts';
import type { Cell } from '../values/cell.ts';
import { execCell } from './exec-cell.ts';
import { execColumn } from './exec-column.ts';
import { createRowTextEncoder, type RowTextEncoder } from './row-text.ts';

const encoder = new TextEncoder();

/** Rows as `[cell,cell,…],` one behind the other. */
export function createExecJsonEncoder(columns: readonly Column[], numbers: JsonNumbers): RowTextEncoder {
  const sink = new ByteSink();
  const form = { ...numbers, keepsTypes: false };
  const cells = columns.map((column) => execCell(sink, column.type, form));
  return createRowTextEncoder(sink, {
    columnCount: cells.length,
    bind({ vectors }) {
      for (const [i, vector] of vectors.entries()) (cells[i] as Cell).bind(vector);
    },
    write(row, start) {
      let at = start;
      for (let i = 0; i < cells.length; i++) {
        at = (cells[i] as Cell).write(row, sink.byte(at, i === 0 ? 91 : COMMA));
      }
      if (cells.length === 0) at = sink.byte(at, 91);
      sink.reserve(at, 2).setUint16(at, 0x5d2c);
      return at + 2;
    },
  });
}

export interface ExecMetadata {
  readonly query: string;
  readonly columns: readonly Column[];
  /** QuestDB's answers to statements also have `timestamp`. */
  readonly isStatement: boolean;
}

/** `{"query":…,"columns":[…],"dataset":[`, the text before the rows; without metadata only `{"dataset":[`. */
export function execJsonHead(metadata: ExecMetadata | undefined): Uint8Array {
  if (metadata === undefined) return encoder.encode('{"dataset":[');
  const { query, columns, isStatement } = metadata;
  const described = `"query":${JSON.stringify(query)},"columns":${JSON.stringify(columns.map(execColumn))}`;
  return encoder.encode(`{${described},${isStatement ? '"timestamp":-1,' : ''}"dataset":[`);
}

/** The content of `dataset`: each row ends with a comma, which the last one loses. Returns the number of rows. */
export async function* execJsonRows(
  pieces: AsyncIterable<Pick<EncodedRows, 'rows' | 'bytes'>>,
): AsyncGenerator<Uint8Array, number, undefined> {
  let rows = 0;
  let held: Uint8Array | undefined;
  for await (const piece of pieces) {
    if (held !== undefined) yield held;
    held = piece.bytes;
    rows += piece.rows;
  }
  if (held !== undefined) yield held.subarray(0, -1);
  return rows;
}

export function execJsonTail(tail: {
  readonly count: number;
  readonly timings: { readonly compilerNs: bigint; readonly executeNs: bigint } | undefined;
  readonly explain: boolean;
  /** The engine, and the reason for its choice. */
  readonly engine?: { readonly engine: string; readonly engine_reason: string } | undefined;
  /** For a statement that changed rows and returns them. */
  readonly changed?: { readonly dml: 'OK'; readonly updated: number } | undefined;
}): Uint8Array {
  const { count, timings, explain, engine, changed } = tail;
  let text = `],"count":${count}`;
  if (timings !== undefined) {
    const { compilerNs, executeNs } = timings;
    text += `,"timings":{"authentication":0,"compiler":${compilerNs},"execute":${executeNs},"count":0}`;
  }
  if (explain) text += `,"explain":${JSON.stringify({ jitCompiled: false, ...engine })}`;
  if (changed !== undefined) text += `,${JSON.stringify(changed).slice(1, -1)}`;
  if (engine !== undefined) text += `,${JSON.stringify(engine).slice(1, -1)}`;
  return encoder.encode(`${text}}`);
}

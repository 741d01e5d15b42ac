import type { Column } from '@framehold/columns';
import type { PreparedStatement } from '@framehold/duckdb';
import type { EncodedPieces } from '../../../../encoding/row-encoder.ts';
import type { RunQueryJob } from '../../protocol/protocol.ts';
import { ResultEncoder } from '../encode/result-encoder.ts';

export interface ShortResult {
  readonly columns: readonly Column[];
  readonly pieces: readonly EncodedPieces[];
  readonly totalRows: number;
}

/**
 * The result of a statement that was short before, without a turn of the event loop: turns and promises would cost several times
 * DuckDB's work. Undefined if it fails or takes longer this time; then run it like any other.
 */
export function runShort(statement: PreparedStatement, job: RunQueryJob): ShortResult | undefined {
  if (!statement.short.isShort) return undefined;
  const result = tryAtOnce(statement, job);
  statement.short.ranAtOnce(result !== undefined);
  return result;
}

function tryAtOnce(statement: PreparedStatement, job: RunQueryJob): ShortResult | undefined {
  try {
    using result = statement.executeAtOnce();
    if (result === undefined) return undefined;
    const encoder = new ResultEncoder(result.columns, job);
    const pieces: EncodedPieces[] = [];
    for (const batch of result.batchesAtOnce()) {
      pieces.push(...encoder.encode(batch));
      if (encoder.hasEnough) break;
    }
    const rest = encoder.rest();
    if (rest !== undefined) pieces.push(rest);
    return { columns: encoder.columns, pieces, totalRows: encoder.rows };
  } catch {
    // Explained where every statement is that fails.
    return undefined;
  }
}

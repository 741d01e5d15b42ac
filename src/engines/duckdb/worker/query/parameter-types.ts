import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DataType } from '../../../../core/data-type.ts';
import { asciiLower } from '../../../../core/text/ascii-lower.ts';
import { tokenize } from '../gate/tokenizer.ts';
import { DuckDbError } from '../native/duckdb-error.ts';
import type { Connection, PreparedStatement } from '../native/session.ts';

/** Each costs a plan, and some take long. */
const mostAsked = 32;
const mostMs = 200;

/**
 * The types of a statement's parameters; kind `null` where nothing tells one. At the first such one DuckDB stops looking, so
 * each that it has not told is asked for alone, with NULL in place of the others.
 */
export async function parameterTypes(
  connection: Connection,
  statement: PreparedStatement,
  { sql, names }: { readonly sql: string; readonly names: readonly string[] },
  signal: AbortSignal,
): Promise<DataType[]> {
  const types = statement.parameterTypes;
  const untold = types.flatMap(({ kind }, index) => (kind === 'null' ? index : []));
  if (untold.length < 2 || untold.length > mostAsked) return types;
  const pieces = piecesOf(sql, names);
  if (pieces === undefined) return types;
  const alone = async (wanted: number): Promise<DataType | undefined> => {
    const text = pieces.map((piece) => (typeof piece === 'string' ? piece : piece === wanted ? ' $1 ' : ' NULL '));
    try {
      using asked = await connection.prepare(text.join(''));
      return asked.parameterTypes[0];
    } catch (error) {
      if (error instanceof DuckDbError && !error.fatal && !error.interrupted) return undefined;
      throw error;
    }
  };
  const until = performance.now() + mostMs;
  for (const index of untold) {
    types[index] = (await alone(index)) ?? { kind: 'null' };
    // A cancel may have come meanwhile.
    await nextTurn();
    signal.throwIfAborted();
    if (performance.now() > until) break;
  }
  return types;
}

/** The text, with the number from 0 in place of each parameter. Undefined where `?` stands beside `$1`, which may be the same one. */
function piecesOf(sql: string, names: readonly string[]): (string | number)[] | undefined {
  const lowerNames = names.map(asciiLower);
  const pieces: (string | number)[] = [];
  let at = 0;
  let questionMarks = 0;
  for (const { kind, start, end, text } of tokenize(sql)) {
    if (kind !== 'parameter') continue;
    const name = text.slice(1);
    const number =
      text === '?' ? questionMarks++ : /^\d/.test(name) ? Number(name) - 1 : lowerNames.indexOf(asciiLower(name));
    pieces.push(sql.slice(at, start), number);
    at = end;
  }
  const isMixed = questionMarks > 0 && questionMarks * 2 < pieces.length;
  return isMixed ? undefined : [...pieces, sql.slice(at)];
}

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DataType } from '@framehold/columns';
import { type Connection, DuckDbError, type PreparedStatement } from '@framehold/duckdb';
import { asciiLower } from '../../../../core/text/ascii-lower.ts';
import { editedText } from '../../../../core/text/source-text.ts';
import { type Token, tokenize } from '../../../../core/text/tokens.ts';
import { closingIndex, isMark } from '../gate/text/token-groups.ts';

/** Each costs a plan, and some take long. */
const mostAsked = 32;
const mostMs = 200;

/**
 * The types of a statement's parameters; kind `null` where none is determined. DuckDB stops at the first parameter without
 * a type, so each missing one is looked up alone, with NULL in place of the others, and then by the CAST around it.
 */
export async function parameterTypes(
  connection: Connection,
  statement: PreparedStatement,
  { sql, names }: { readonly sql: string; readonly names: readonly string[] },
  signal: AbortSignal,
): Promise<DataType[]> {
  const types = statement.parameterTypes;
  const untold = types.flatMap(({ kind }, index) => (kind === 'null' ? index : []));
  if (untold.length === 0 || untold.length > mostAsked) return types;
  const tokens = tokenize(sql);
  const used = parametersIn(tokens, names);
  if (used === undefined) return types;
  const told = async (text: string | undefined): Promise<DataType | undefined> => {
    if (text === undefined) return undefined;
    try {
      using asked = await connection.prepare(text);
      const type = asked.parameterTypes[0];
      return type?.kind === 'null' ? undefined : type;
    } catch (error) {
      if (error instanceof DuckDbError && !error.fatal && !error.interrupted) return undefined;
      throw error;
    }
  };
  const until = performance.now() + mostMs;
  for (const index of untold) {
    const alone = untold.length > 1 ? textOf(sql, used, index) : undefined;
    types[index] = (await told(alone)) ?? (await told(castOf(sql, tokens, used, index))) ?? { kind: 'null' };
    // A cancel may have arrived meanwhile.
    await nextTurn();
    signal.throwIfAborted();
    if (performance.now() > until) break;
  }
  return types;
}

/** A parameter in the text. */
interface Use {
  /** Which one, from 0. */
  readonly number: number;
  /** Its place among the tokens. */
  readonly at: number;
  readonly token: Token;
}

/** Undefined where `?` stands beside `$1`, which may be the same one. */
function parametersIn(tokens: readonly Token[], names: readonly string[]): readonly Use[] | undefined {
  const lowerNames = names.map(asciiLower);
  let questionMarks = 0;
  const used = tokens.flatMap((token, at): Use | [] => {
    if (token.kind !== 'parameter') return [];
    const name = token.text.slice(1);
    if (token.text === '?') return { number: questionMarks++, at, token };
    return { number: /^\d/.test(name) ? Number(name) - 1 : lowerNames.indexOf(asciiLower(name)), at, token };
  });
  return questionMarks > 0 && questionMarks < used.length ? undefined : used;
}

/** The statement with no other parameter than the wanted one. */
function textOf(sql: string, used: readonly Use[], wanted: number): string {
  const edits = used.map(({ number, token: { start, end } }) => {
    return { at: start, length: end - start, text: number === wanted ? ' $1 ' : ' NULL ' };
  });
  return editedText(sql, edits).sql;
}

/**
 * The CAST around a parameter that is used once. DuckDB gives no type for `price > CAST(? AS DECIMAL(1,0))`, since it casts the
 * parameter once more, to the type of `price`. jOOQ writes every decimal so.
 */
function castOf(sql: string, tokens: readonly Token[], used: readonly Use[], wanted: number): string | undefined {
  const [use, ...more] = used.filter(({ number }) => number === wanted);
  if (use === undefined || more.length > 0) return undefined;
  const [verb, open, , behind] = tokens.slice(Math.max(0, use.at - 2));
  const isCast = ['cast', 'try_cast'].includes(verb?.word ?? '') && isMark(open, '(') && behind?.word === 'as';
  const close = tokens[closingIndex(tokens, use.at - 1)];
  return isCast && close !== undefined ? `SELECT CAST($1 AS ${sql.slice(behind.end, close.start)})` : undefined;
}

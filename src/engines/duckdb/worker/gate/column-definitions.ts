import { AppError } from '../../../../core/app-error.ts';
import type { Query } from '../../../../core/sql.ts';
import { asciiLower } from '../../../../core/text/ascii-lower.ts';
import { sqlName } from '../../protocol/sql-text.ts';
import type { GateText } from './gate-query.ts';
import { isWord, type TokenCursor } from './token-cursor.ts';
import type { Token } from './tokenizer.ts';

/** Words that begin something behind or instead of a column's type. */
const constraints = new Set([
  'as',
  'check',
  'collate',
  'constraint',
  'default',
  'exclude',
  'foreign',
  'generated',
  'like',
  'primary',
  'references',
  'unique',
  'using',
]);

/** (column type [NULL], …) as the query that gives these columns and no rows. */
export async function columnsQuery(cursor: TokenCursor, gate: GateText): Promise<Query> {
  const names = new Set<string>();
  const origins: { built: number; written: number }[] = [];
  let sql = 'SELECT ';
  cursor.takesMark('(');
  do {
    refuseConstraint(cursor);
    const { position } = cursor;
    const name = cursor.takeName('the name of a column');
    if (names.has(name.toLowerCase())) throw repeatedName(name, position);
    names.add(name.toLowerCase());
    const type = takeType(cursor);
    const [first] = type;
    if (first === undefined) {
      if (seesNamesBeforeAs(cursor)) throw namesBeforeAs(cursor);
      throw cursor.unexpected(`the type of column ${sqlName(name)}`);
    }
    sql += `${origins.length > 0 ? ', ' : ''}CAST(NULL AS `;
    for (const token of type) {
      origins.push({ built: sql.length, written: token.start });
      sql += `${token.text} `;
    }
    sql += `) AS ${sqlName(name)}`;
    cursor.takes('null');
    refuseConstraint(cursor);
    // DuckDB takes a comma behind the last column, too.
  } while (cursor.takesMark(',') && !cursor.seesMark(')'));
  if (!cursor.takesMark(')')) throw cursor.unexpected('a comma or a closing parenthesis');
  if (cursor.sees('as')) throw namesBeforeAs(cursor);
  if (!cursor.done) throw cursor.unexpected('the end of the statement');
  const start = origins[0]?.written ?? 0;
  const query = await gate(`${sql} WHERE false`, (at) => {
    const origin = origins.findLast(({ built }) => built <= at);
    return origin === undefined ? start : origin.written + at - origin.built;
  });
  return { ...query, start: undefined };
}

/** A frame could keep both, but SQL would know the second only under another name. */
function repeatedName(name: string, position: number): AppError {
  return new AppError('sql_error', `column ${sqlName(name)} is there already; case does not tell names apart`, {
    hint: 'give each column another name',
    position,
  });
}

/** Whether the rest of a list of columns is names alone, and AS follows it. */
function seesNamesBeforeAs(cursor: TokenCursor): boolean {
  let ahead = 0;
  while (cursor.seesMark(',', ahead)) ahead += 2;
  return cursor.seesMark(')', ahead) && isWord(cursor.peek(ahead + 1), 'as');
}

function namesBeforeAs({ position }: TokenCursor): AppError {
  return new AppError('sql_forbidden', 'names of columns before AS are not supported', {
    hint: 'name the columns in the query: AS SELECT 1 AS a, …',
    position,
  });
}

function takeType(cursor: TokenCursor): Token[] {
  const type: Token[] = [];
  let depth = 0;
  for (let token = cursor.peek(); token !== undefined; token = cursor.peek()) {
    if (depth === 0 && (token.text === ',' || token.text === ')' || endsType(token))) break;
    if (token.kind === 'operator' || token.kind === 'parameter') throw cursor.unexpected('a type');
    if (/^[([{]$/.test(token.text)) depth++;
    else if (/^[)\]}]$/.test(token.text)) depth--;
    type.push(token);
    cursor.take();
  }
  return type;
}

function endsType(token: Token): boolean {
  return (
    isWord(token, 'not') || isWord(token, 'null') || (token.kind === 'word' && constraints.has(asciiLower(token.text)))
  );
}

function refuseConstraint(cursor: TokenCursor): void {
  const token = cursor.peek();
  const notNull = cursor.sees('not', 'null');
  if (!notNull && (token?.kind !== 'word' || !constraints.has(asciiLower(token.text)))) return;
  const constraint = notNull ? 'NOT NULL' : token?.text.toUpperCase();
  throw new AppError('sql_forbidden', `${constraint} is not supported: frames have no constraints, keys or defaults`, {
    hint: 'give only the name and the type of each column',
    position: cursor.position,
  });
}

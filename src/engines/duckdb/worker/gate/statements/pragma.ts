import { sqlString } from '@framehold/columns';
import type { Query, Statement } from '../../../../../core/sql/sql.ts';
import { settingName } from '../../../../../core/sql/statement-settings.ts';
import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import { unquoted } from '../../../../../core/text/dialects.ts';
import { SourceText } from '../../../../../core/text/source-text.ts';
import type { Token } from '../../../../../core/text/tokens.ts';
import type { GateText } from '../gate-query.ts';
import { refuseStatement } from '../rules/refused-statements.ts';
import { nameOf, type StatementCursor } from '../text/statement-cursor.ts';

/** Pragmas that only read catalogs, as the queries that DuckDB makes of them. */
const queries: ReadonlyMap<string, string> = new Map([
  ['collations', 'FROM pragma_collations() ORDER BY 1'],
  ['database_list', 'FROM pragma_database_list'],
  ['show_databases', 'SHOW DATABASES'],
  ['show_tables_expanded', 'SHOW ALL TABLES'],
  ['version', 'FROM pragma_version()'],
]);

/** Pragmas about one table. */
const tableQueries: ReadonlyMap<string, string> = new Map([
  ['show', 'pragma_show'],
  ['table_info', 'pragma_table_info'],
]);

const catalogs = { mayReadCatalogs: true } as const;

/** PRAGMA name, or PRAGMA name('table'). All that are not in these lists are refused. */
export async function pragma(cursor: StatementCursor, tokens: readonly Token[], gate: GateText): Promise<Statement> {
  const [, nameToken, open, argument, close, ...rest] = tokens;
  const name = nameToken?.kind === 'word' ? asciiLower(nameToken.text) : '';
  cursor.take();
  const { position } = cursor;
  if (open === undefined) {
    if (name === 'show_tables') return { kind: 'showTables' };
    const sql = queries.get(name);
    if (sql !== undefined) return { kind: 'query', query: await gate(new SourceText().ours(sql, position), catalogs) };
  }
  const reads = tableQueries.get(name);
  const table = argument === undefined ? undefined : (stringOf(argument) ?? nameOf(argument));
  const isCall = open?.text === '(' && close?.text === ')' && rest.length === 0;
  if (reads !== undefined && table !== undefined && isCall) {
    const sql = `FROM ${reads}(${sqlString(table)})`;
    return { kind: 'query', query: await gate(new SourceText().ours(sql, position), catalogs) };
  }
  refuseStatement(tokens);
  throw cursor.unexpected('the name of a pragma');
}

function stringOf({ kind, text }: Token): string | undefined {
  return kind === 'string' && text.startsWith("'") ? unquoted(text) : undefined;
}

/** SHOW TimeZone and SHOW TIME ZONE. Undefined for other settings. */
export async function shownSetting(tokens: readonly Token[], gate: GateText): Promise<Query | undefined> {
  const [show, first, second, ...others] = tokens;
  if (show?.word !== 'show' || first?.kind !== 'word' || others.length > 0) return undefined;
  const isTimeZone = first.word === 'time' && second?.word === 'zone';
  if (second !== undefined && !isTimeZone) return undefined;
  const name = settingName(isTimeZone ? 'TimeZone' : first.text);
  if (name === undefined) return undefined;
  return await gate(new SourceText().ours(`SELECT current_setting('${name}') AS "${name}"`, first.start));
}

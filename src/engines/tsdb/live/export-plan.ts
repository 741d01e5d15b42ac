import { sqlName, sqlString } from '@framehold/columns';
import type { LiveCondition, LiveRead, LiveValue } from '../../../core/sql/live-read.ts';
import type { LivePlan, LiveStatement } from '../../../core/sql/live-tables.ts';
import type { StatementSettings } from '../../../core/sql/statement-settings.ts';
import { asciiLower } from '../../../core/text/ascii-lower.ts';
import type { Source, SourceColumn } from './describe-live.ts';
import { timeLiteral } from './time-literal.ts';

/** Most values of IN that are sent. */
const mostValues = 200;
/** Length of all conditions together: a request has 64 KiB, and its text grows as it is encoded. */
const longestConditions = 6000;

/** The request to QuestDB for all places where a statement reads a table or query. */
export function exportPlan(source: Source, reads: readonly LiveRead[], statement: LiveStatement): LivePlan {
  const columns = usedColumns(source, reads);
  const conditions = source.isTable ? commonConditions(source, reads, statement) : undefined;
  const [only] = reads;
  const limit = reads.length === 1 && only !== undefined ? limitText(source, only, statement, conditions) : undefined;
  const list = columns.map(({ exported }) => exported).join(', ');
  const rows = [conditions === undefined ? '' : ` WHERE ${conditions}`, limit ?? ''].join('');
  const isWhole = columns.length === source.columns.length;
  const shown = isWhole ? '*' : columns.map(({ name }) => name).join(', ');
  return {
    columns,
    sql: `SELECT ${list} FROM ${source.from}${rows}`,
    pushed: `${source.shown}(${shown})${rows}`,
    source,
  };
}

/** Undefined where more rows may be needed. */
function limitText(
  source: Source,
  { limit, conditions }: LiveRead,
  { settings, toRow }: LiveStatement,
  pushed: string | undefined,
): string | undefined {
  const rows = limit?.rows ?? toRow;
  if (limit === undefined || rows === undefined || !Number.isFinite(rows)) return undefined;
  const isFiltered = conditions.length === 0 || pushed !== undefined;
  if (!isFiltered || !conditions.every((condition) => pushable(source, condition, settings) !== undefined))
    return undefined;
  const { order } = limit;
  if (order === undefined) return ` LIMIT ${rows}`;
  const { timestamp } = source;
  if (timestamp === undefined || asciiLower(timestamp.name) !== order.column) return undefined;
  const isDown = order.direction === 'default' ? settings?.default_order === 'DESC' : order.direction === 'descending';
  return ` ORDER BY ${sqlName(timestamp.name)}${isDown ? ' DESC' : ''} LIMIT ${rows}`;
}

function usedColumns(source: Source, reads: readonly LiveRead[]): readonly SourceColumn[] {
  const { columns, timestamp } = source;
  // All columns of a query are its author's choice.
  if (!source.isTable || reads.some((read) => read.columns === undefined)) return columns;
  const used = new Set(reads.flatMap((read) => read.columns ?? []));
  const found = columns.filter(({ name }) => used.has(asciiLower(name)));
  if (found.length > 0) return found;
  // The rows are counted.
  const only = columns.find(({ name }) => name === timestamp?.name) ?? columns[0];
  return only === undefined ? [] : [only];
}

/** A row is needed if any of the places needs it. Undefined: all are. */
function commonConditions(source: Source, reads: readonly LiveRead[], { settings }: LiveStatement): string | undefined {
  const alternatives = reads.map(({ conditions }) =>
    [...new Set(conditions.flatMap((condition) => pushable(source, condition, settings) ?? []))].join(' AND '),
  );
  const distinct = [...new Set(alternatives)];
  if (distinct.includes('')) return undefined;
  const text = distinct.length === 1 ? distinct.join('') : distinct.map((each) => `(${each})`).join(' OR ');
  return text.length > longestConditions ? undefined : text;
}

/** The condition in the dialect of QuestDB, where it holds there for the same rows. */
function pushable(
  source: Source,
  condition: LiveCondition,
  settings: StatementSettings | undefined,
): string | undefined {
  const column = source.columns.find(({ name }) => asciiLower(name) === condition.column);
  if (column === undefined) return undefined;
  const { timestamp } = source;
  if (timestamp?.name === column.name) {
    // Points in time would be compared as texts.
    const isTexts = settings?.old_implicit_casting === 'true' && condition.values.some(({ type }) => type === 'text');
    return isTexts ? undefined : timeCondition(column, condition, timestamp.unit);
  }
  // A collation compares other texts as the same.
  const isExact = settings?.default_collation === undefined || settings.default_collation === '';
  return column.questDbType === 'SYMBOL' && isExact ? symbolCondition(column, condition) : undefined;
}

function timeCondition(
  column: SourceColumn,
  { operator, values }: LiveCondition,
  unit: 'us' | 'ns',
): string | undefined {
  const [value] = values;
  const literal = value && timeLiteral(value, unit);
  if (literal === undefined || operator === 'in') return undefined;
  const name = sqlName(column.name);
  return operator === '=' ? `${name} >= ${literal} AND ${name} <= ${literal}` : `${name} ${operator} ${literal}`;
}

function symbolCondition(column: SourceColumn, { operator, values }: LiveCondition): string | undefined {
  if (operator !== '=' && operator !== 'in') return undefined;
  if (values.length === 0 || values.length > mostValues || !values.every(isPlainText)) return undefined;
  const name = sqlName(column.name);
  const literals = [...new Set(values.map(({ text }) => sqlString(text)))];
  return literals.length === 1 ? `${name} = ${literals[0]}` : `${name} IN (${literals.join(', ')})`;
}

/** Neither an empty text nor one that the two databases may read differently. */
function isPlainText({ type, text }: LiveValue): boolean {
  return type === 'text' && text !== '' && text.length <= 1000 && !/[\p{Cc}\p{Cs}]/u.test(text);
}

import type { DataType } from '@framehold/columns';

/** A column of a table, by its place: its name may hold anything, and repeat. */
export interface ProfiledColumn {
  /** As SQL names it. */
  readonly table: string;
  readonly at: number;
  readonly columnCount: number;
  readonly type: DataType;
}

/** Whether values of the type have an order, and can be counted apart. */
export function isScalar({ kind }: DataType): boolean {
  return !['null', 'binary', 'list', 'array', 'struct', 'map', 'union'].includes(kind);
}

/** Whether a histogram of them says something. */
export function isMeasured({ kind }: DataType): boolean {
  return ['int', 'float', 'decimal', 'date', 'time', 'timestamp'].includes(kind);
}

export function isNumber({ kind }: DataType): boolean {
  return kind === 'int' || kind === 'float' || kind === 'decimal';
}

export const quantileRanks = [0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99] as const;
const mostTopValues = 20;
/** Texts are cut behind it. */
export const longestValue = 200;

/** Rows, values, not-a-numbers, least and its name, greatest and its name, average, estimated distinct values. */
export function valuesSql(column: ProfiledColumn): string {
  const { type } = column;
  const v = valueText(column);
  if (!isScalar(type)) return `SELECT count(*), count(${v}), 0, NULL, NULL, NULL, NULL, NULL, NULL${fromText(column)}`;
  const isFloat = type.kind === 'float';
  const ordered = isFloat ? `CASE WHEN NOT isnan(${v}) THEN ${v} END` : v;
  const parts = [
    'count(*)',
    `count(${v})`,
    isFloat ? `count_if(isnan(${v}))` : '0',
    shortened(`min(${ordered})`, type),
    nameText(`min(${ordered})`, type),
    shortened(`max(${ordered})`, type),
    nameText(`max(${ordered})`, type),
    isNumber(type) ? `avg(CAST(${ordered} AS DOUBLE))` : 'NULL',
    `approx_count_distinct(${v})`,
  ];
  return `SELECT ${parts.map((part, i) => `${part} AS p${i}`).join(', ')}${fromText(column)}`;
}

/** The commonest values, each with its name, its count, and the number of distinct ones. */
export function topSql(column: ProfiledColumn): string {
  const v = valueText(column);
  const counted = `SELECT ${v} AS v, count(*) AS n${fromText(column)} WHERE ${v} IS NOT NULL GROUP BY ${v}`;
  const shown = `${shortened('v', column.type)}, ${nameText('v', column.type)}, n, (SELECT count(*) FROM counted)`;
  const top = `SELECT * FROM counted ORDER BY n DESC, v LIMIT ${mostTopValues}`;
  return `WITH counted AS MATERIALIZED (${counted}) SELECT ${shown} FROM (${top}) ORDER BY n DESC, v`;
}

/** A row with a value and its name for each rank. */
export function quantilesSql(column: ProfiledColumn): string {
  const v = valueText(column);
  const where = column.type.kind === 'float' ? ` WHERE NOT isnan(${v})` : '';
  const list = `SELECT quantile_disc(${v}, [${quantileRanks.join(', ')}]) AS q${fromText(column)}${where}`;
  const pairs = quantileRanks.map((_, i) => `q[${i + 1}], ${nameText(`q[${i + 1}]`, column.type)}`);
  return `SELECT ${pairs.join(', ')} FROM (${list})`;
}

function valueText({ at, type }: ProfiledColumn): string {
  return type.kind === 'json' ? `CAST(c${at} AS VARCHAR)` : `c${at}`;
}

function fromText({ table, columnCount }: ProfiledColumn): string {
  return ` FROM ${table} AS f(${Array.from({ length: columnCount }, (_, at) => `c${at}`).join(', ')})`;
}

/** Name of NaN and the infinities, which are NULL in the cells of an answer; else NULL. */
function nameText(value: string, { kind }: DataType): string {
  const canBeInfinite = kind === 'float' || kind === 'date' || kind === 'timestamp';
  return canBeInfinite ? `CASE WHEN NOT isfinite(${value}) THEN CAST(${value} AS VARCHAR) END` : 'NULL';
}

function shortened(value: string, { kind }: DataType): string {
  return kind === 'utf8' || kind === 'json' ? `left(${value}, ${longestValue})` : value;
}

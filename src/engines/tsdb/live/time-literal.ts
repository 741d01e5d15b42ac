import type { LiveValue } from '../../../core/sql/live-read.ts';

const written = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?Z?)?$/;
/** Years that every timestamp type covers in both databases. */
const [firstYear, lastYear] = [1970, 2261];

/**
 * A literal as QuestDB reads the same point in time. Undefined where DuckDB may read another one, or round it to the digits that the column
 * has.
 */
export function timeLiteral({ type, text }: LiveValue, unit: 'us' | 'ns'): string | undefined {
  const match = written.exec(text.trim());
  if (match === null) return undefined;
  const [, date = '', time, seconds = '00', fraction = ''] = match;
  if (type === 'date' && time !== undefined) return undefined;
  const moment = `${date}T${time ?? '00:00'}:${seconds}`;
  const year = Number(date.slice(0, 4));
  if (year < firstYear || year > lastYear || !isMoment(moment)) return undefined;
  const isNanoseconds = unit === 'ns' && type !== 'timestamp';
  const digits = fraction.replace(/0+$/, '');
  if (digits.length > (isNanoseconds ? 9 : 6)) return undefined;
  return `'${moment}.${digits.padEnd(unit === 'ns' ? 9 : 6, '0')}Z'`;
}

/** Whether the day and time exist. */
function isMoment(moment: string): boolean {
  const parsed = new Date(`${moment}Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(moment);
}

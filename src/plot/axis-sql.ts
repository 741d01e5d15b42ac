import type { DataType } from '@framehold/columns';
import type { Axis } from './plot-columns.ts';
import type { PlotSpec, RangeEnd } from './plot-spec.ts';
import { axisValue } from './range-end.ts';

/** Whether infinite values and distances beyond 64 bits are thought of. */
export type Care = 'quick' | 'strict';

export function columnText({ kind, at }: Axis): string {
  return kind === 'row' ? 'n' : `c${at}`;
}

/** A value of the column as a number, or as text. */
export function axisText({ kind, type }: Axis, value: string): string {
  switch (kind) {
    case 'row':
      return value;
    case 'time':
      return `epoch_us(${value})`;
    case 'integer':
      return `CAST(${value} AS BIGINT)`;
    case 'long':
      return type?.kind === 'int' && type.signed ? value : `CAST(${value} AS HUGEINT)`;
    case 'double':
      return `CAST(${value} AS DOUBLE)`;
    case 'category':
      return `left(CAST(${value} AS VARCHAR), 100)`;
    default:
      return kind satisfies never;
  }
}

/** NaN and the infinities are drawn no more than NULL. */
export function measureText(column: string, type: DataType, care: Care): string {
  const value = `CAST(${column} AS DOUBLE)`;
  return type.kind === 'float' && care === 'strict' ? `CASE WHEN isfinite(${column}) THEN ${value} END` : value;
}

/** The number of a row's values that are NaN or infinite. */
export function notFiniteText(columns: readonly { readonly at: number; readonly type: DataType }[]): string {
  const floats = columns.filter(({ type }) => type.kind === 'float');
  return floats.map(({ at }) => `CASE WHEN NOT isfinite(c${at}) THEN 1 ELSE 0 END`).join(' + ') || '0';
}

export function validText({ kind, at, type }: Axis, care: Care): string[] {
  if (kind === 'row') return [];
  const canBeInfinite = type?.kind === 'float' || type?.kind === 'date' || type?.kind === 'timestamp';
  return canBeInfinite && care === 'strict' ? [`isfinite(c${at})`] : [`c${at} IS NOT NULL`];
}

export function rangeText(x: Axis, { from, to }: PlotSpec): string[] {
  if (x.kind === 'category') return [];
  return [
    ...(from === undefined ? [] : [endText(x, '>=', axisValue(from, x.kind, 'from'))]),
    ...(to === undefined ? [] : [endText(x, '<=', axisValue(to, x.kind, 'to'))]),
  ];
}

/** Comparisons with the column itself let whole parts of a file be left unread. */
function endText(x: Axis, operator: '>=' | '<=', value: number): string {
  const whole = wholeText(operator === '>=' ? Math.ceil(value) : Math.floor(value));
  switch (x.kind) {
    case 'row':
      return `n ${operator} ${whole}`;
    case 'time':
      if (x.type?.kind !== 'timestamp') return `epoch_us(c${x.at}) ${operator} ${whole}`;
      if (x.type.unit !== 'us') return `epoch_us(c${x.at}) ${operator} ${whole} AND ${nearText(x, operator, value)}`;
      return `c${x.at} ${operator} ${momentText(x, whole)}`;
    case 'integer':
    case 'long':
      return `c${x.at} ${operator} ${whole}`;
    default:
      return `c${x.at} ${operator} ${doubleText(value)}`;
  }
}

/** Wider than the range by a second, for times of other units. */
function nearText(x: Axis, operator: '>=' | '<=', value: number): string {
  const wider = wholeText(operator === '>=' ? Math.floor(value) - 1_000_000 : Math.ceil(value) + 1_000_000);
  return `c${x.at} ${operator} ${momentText(x, wider)}`;
}

function momentText({ type }: Axis, us: string): string {
  const isZoned = type?.kind === 'timestamp' && type.zoned;
  return `${isZoned ? 'make_timestamptz' : 'make_timestamp'}(${us})`;
}

/** Every 64-bit integer, and every time, has a smaller magnitude. */
const mostWhole = 9_200_000_000_000_000_000;

function wholeText(value: number): string {
  return String(BigInt(Math.max(-mostWhole, Math.min(mostWhole, value))));
}

function doubleText(value: number): string {
  return `CAST('${value}' AS DOUBLE)`;
}

export function givenEnd(x: Axis, end: RangeEnd | undefined, key: 'from' | 'to'): string | undefined {
  if (end === undefined) return undefined;
  const value = axisValue(end, x.kind, key);
  if (x.kind === 'double') return doubleText(value);
  return wholeText(key === 'from' ? Math.ceil(value) : Math.floor(value));
}

/** The type in which two values of x are subtracted. */
type Numbers = 'double' | 'bigint' | 'hugeint';

export function numbersOf({ kind, type }: Axis, care: Care): Numbers {
  if (kind === 'double') return 'double';
  const fits = kind !== 'long' || (type?.kind === 'int' && type.signed);
  return care === 'quick' && fits ? 'bigint' : 'hugeint';
}

export function distanceText(high: string, low: string, numbers: Numbers): string {
  switch (numbers) {
    case 'double':
      // Halves, because the distance of two doubles may be too large for one.
      return `(${high} / 2 - ${low} / 2)`;
    case 'bigint':
      return `CAST(${high} - ${low} AS DOUBLE)`;
    case 'hugeint':
      return `CAST(CAST(${high} AS HUGEINT) - ${low} AS DOUBLE)`;
    default:
      return numbers satisfies never;
  }
}

/** A little less than would bring hi into a bucket behind the last one. */
export function scaleText(low: string, high: string, numbers: Numbers, buckets: number): string {
  const distance = distanceText(high, low, numbers);
  return `CASE WHEN ${distance} > 1e-290 THEN ${buckets * (1 - 1e-12)} / ${distance} ELSE 0 END`;
}

export function bucketText(value: string, low: string, scale: string, numbers: Numbers): string {
  return `CAST(floor(${distanceText(value, low, numbers)} * ${scale}) AS INTEGER)`;
}

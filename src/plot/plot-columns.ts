import type { Column, DataType } from '@framehold/columns';
import { AppError } from '../core/errors/app-error.ts';
import { didYouMeanName } from '../core/text/did-you-mean.ts';
import type { PlotSpec } from './plot-spec.ts';

/** The conversion of x to numbers. `long`: whole numbers that a double would round. */
export type AxisKind = 'time' | 'integer' | 'long' | 'double' | 'category' | 'row';

export interface Axis {
  readonly kind: AxisKind;
  /** Position in the table; -1 for the number of the row. */
  readonly at: number;
  readonly type: DataType | undefined;
}

export interface Measure {
  readonly name: string;
  readonly at: number;
  readonly type: DataType;
}

/** The columns of a plot by their places in the table: names may repeat there, and hold anything. */
export interface PlotColumns {
  readonly x: Axis;
  readonly y: readonly Measure[];
  readonly series: number | undefined;
  /** Number of columns of the whole table. */
  readonly columnCount: number;
}

/** Throws if a column is missing, or cannot be drawn. */
export function plotColumns(spec: PlotSpec, columns: readonly Column[]): PlotColumns {
  const x = axisOf(spec, columns);
  if (x.kind === 'category' && spec.kind !== 'bars') {
    throw cannot(`x ${shown(spec.x ?? '')} is neither a number nor a time`, 'only bars stand over texts');
  }
  const y = spec.kind === 'histogram' ? [] : spec.y.map((name) => measureOf(name, columns));
  if (y.length === 0 && spec.kind !== 'histogram' && spec.kind !== 'bars') {
    throw new AppError('missing_parameter', `y is not given, and a plot of the kind ${spec.kind} needs it`);
  }
  const series = spec.series === undefined ? undefined : placeOf(spec.series, columns);
  return { x, y: spec.kind === 'scatter' ? y.slice(0, 1) : y, series, columnCount: columns.length };
}

export function axisKind(type: DataType): AxisKind {
  switch (type.kind) {
    case 'date':
    case 'time':
    case 'timestamp':
      return 'time';
    case 'int':
      if (type.bits < 64) return 'integer';
      return type.bits === 64 ? 'long' : 'double';
    case 'float':
    case 'decimal':
      return 'double';
    default:
      return 'category';
  }
}

function axisOf({ x, kind }: PlotSpec, columns: readonly Column[]): Axis {
  if (x === undefined) {
    if (kind !== 'histogram') return { kind: 'row', at: -1, type: undefined };
    throw new AppError('missing_parameter', 'x is not given, and a histogram counts its values');
  }
  const at = placeOf(x, columns);
  const { type } = columns[at] as Column;
  return { kind: axisKind(type), at, type };
}

function measureOf(name: string, columns: readonly Column[]): Measure {
  const at = placeOf(name, columns);
  const { type } = columns[at] as Column;
  if (type.kind === 'int' || type.kind === 'float' || type.kind === 'decimal' || type.kind === 'boolean') {
    return { name, at, type };
  }
  throw cannot(`y ${shown(name)} has no numbers`, 'choose a column of numbers, or cast it in a statement');
}

function placeOf(name: string, columns: readonly Column[]): number {
  const at = columns.findIndex((column) => column.name === name);
  if (at >= 0) return at;
  const names = columns.map((column) => column.name);
  throw new AppError('invalid_parameter', `column ${shown(name)} not found${didYouMeanName(name, names)}`, {
    hint: `the columns are ${names.slice(0, 50).join(', ')}`,
  });
}

function cannot(what: string, hint: string): AppError {
  return new AppError('invalid_parameter', what, { hint });
}

function shown(name: string): string {
  return JSON.stringify(name.slice(0, 100));
}

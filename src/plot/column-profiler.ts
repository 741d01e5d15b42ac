import type { Column } from '@framehold/columns';
import type { Principal } from '../core/callers/principal.ts';
import { AppError } from '../core/errors/app-error.ts';
import { localEngineName } from '../core/names/engine-names.ts';
import type { FrameName } from '../core/names/frame-name.ts';
import { didYouMeanName } from '../core/text/did-you-mean.ts';
import type { HeldSummary } from '../frames/catalog/frame-summary.ts';
import type { CallOptions, FrameSql } from '../query/frame-sql.ts';
import { sqlText } from '../query/tables/frame-tables.ts';
import { type Cell, numberOf, type Row, resultRows } from './plot-rows.ts';
import type { PlotSpec } from './plot-spec.ts';
import type { Plotter } from './plotter.ts';
import { isMeasured, isScalar, quantileRanks, quantilesSql, topSql, valuesSql } from './profile-sql.ts';

export const profileParts = ['values', 'top', 'histogram', 'quantiles'] as const;
export type ProfilePart = (typeof profileParts)[number];

/** Values are as in the cells of an answer: numbers that JSON would round are text, and so are NaN and the infinities. */
export interface ColumnProfile {
  readonly column: Column;
  readonly rows: number;
  readonly count: number;
  readonly nulls: number;
  readonly nans: number;
  readonly min: Cell;
  readonly max: Cell;
  readonly mean: number | null;
  /** Null where values of the type are not counted apart. */
  readonly distinct: number | null;
  /** Otherwise it is an estimate, and wrong by a third at times. */
  readonly distinctIsExact: boolean;
  /** Null if it was not requested, or if almost all values are distinct. */
  readonly top: readonly { readonly value: Cell; readonly count: number }[] | null;
  /** Times are µs since 1970. Null if it was not requested, or if the type has none. */
  readonly histogram: { readonly step: number; readonly bins: readonly HistogramBin[] } | null;
  readonly quantiles: readonly { readonly rank: number; readonly value: Cell }[] | null;
}

export interface HistogramBin {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

const mostBins = 50;
/** Counting more distinct values takes seconds, and is of no use. */
const mostDistinct = 1_000_000;

/** Profiles the values of a column. Each part is a statement of the caller. */
export class ColumnProfiler {
  readonly #sql: FrameSql;
  readonly #plotter: Pick<Plotter, 'ofColumns'>;

  constructor({ sql, plotter }: { readonly sql: FrameSql; readonly plotter: Pick<Plotter, 'ofColumns'> }) {
    this.#sql = sql;
    this.#plotter = plotter;
  }

  async profile(
    principal: Principal,
    { handle, columns }: Pick<HeldSummary, 'handle' | 'columns'>,
    { column: name, parts }: { readonly column: string; readonly parts: ReadonlySet<ProfilePart> },
    caller: CallOptions,
  ): Promise<ColumnProfile> {
    const at = placeOf(name, columns, handle);
    const options = { ...caller, shownAs: `profile of ${handle}: ${name.slice(0, 100)}` };
    const column = columns[at] as Column;
    const { type } = column;
    const profiled = { table: sqlText(handle), at, columnCount: columns.length, type };
    const run = (sql: string): Promise<readonly Row[]> => this.#run(principal, sql, options);
    const [all, values, nans, min, minName, max, maxName, mean, distinct] = (await run(valuesSql(profiled)))[0] ?? [];
    const rows = numberOf(all) ?? 0;
    const count = numberOf(values) ?? 0;
    const about = numberOf(distinct);
    const hasTop = parts.has('top') && isScalar(type) && (about ?? 0) <= mostDistinct;
    const topRows = hasTop ? await run(topSql(profiled)) : undefined;
    const hasHistogram = parts.has('histogram') && isMeasured(type);
    return {
      column,
      rows,
      count,
      nulls: rows - count,
      nans: numberOf(nans) ?? 0,
      min: named(min, minName),
      max: named(max, maxName),
      mean: numberOf(mean),
      // An estimate may exceed the number of values, and so may a later count.
      distinct: about && Math.min(topRows === undefined ? about : (numberOf(topRows[0]?.[3]) ?? 0), count),
      distinctIsExact: topRows !== undefined,
      top: topRows?.map(topValue) ?? null,
      histogram: hasHistogram ? await this.#histogram(principal, handle, columns, name, options) : null,
      quantiles: parts.has('quantiles') && isMeasured(type) ? quantiles(await run(quantilesSql(profiled))) : null,
    };
  }

  async #histogram(
    principal: Principal,
    handle: FrameName,
    columns: readonly Column[],
    name: string,
    options: CallOptions,
  ): Promise<ColumnProfile['histogram']> {
    // Bins begin at round values, so that there may be one more.
    const bins = mostBins - 1;
    const { series, step } = await this.#plotter.ofColumns(
      principal,
      handle,
      columns,
      { ...unspecified, kind: 'histogram', x: name, bins },
      options,
    );
    const [counted] = series;
    if (counted === undefined || step === undefined) return null;
    const binOf = (from: number | string, i: number): HistogramBin => ({
      from: Number(from),
      to: Number(from) + step,
      count: counted.y[i] ?? 0,
    });
    return { step, bins: counted.x.map(binOf) };
  }

  async #run(principal: Principal, sql: string, options: CallOptions): Promise<readonly Row[]> {
    const statement = await this.#sql.analyze(principal, { sql, engine: localEngineName }, options);
    await using result = await this.#sql.query(principal, { statement, form: 'exec-json-quoted' }, options);
    return await resultRows(result);
  }
}

const unspecified: Omit<PlotSpec, 'kind' | 'x' | 'bins'> = {
  y: [],
  series: undefined,
  from: undefined,
  to: undefined,
  aggregate: 'count',
  width: mostBins,
  height: mostBins,
};

function topValue([value, name, count]: Row): { readonly value: Cell; readonly count: number } {
  return { value: named(value, name), count: numberOf(count) ?? 0 };
}

const infinite = new Map<Cell | undefined, string>([
  ['nan', 'NaN'],
  ['inf', 'Infinity'],
  ['infinity', 'Infinity'],
  ['-inf', '-Infinity'],
  ['-infinity', '-Infinity'],
]);

function named(value: Cell | undefined, name: Cell | undefined): Cell {
  return infinite.get(name) ?? value ?? null;
}

function quantiles([row]: readonly Row[]): ColumnProfile['quantiles'] {
  return quantileRanks.map((rank, i) => ({ rank, value: named(row?.[2 * i], row?.[2 * i + 1]) }));
}

function placeOf(name: string, columns: readonly Column[], handle: FrameName): number {
  const at = columns.findIndex((column) => column.name === name);
  if (at >= 0) return at;
  const names = columns.map((column) => column.name);
  const shown = JSON.stringify(name.slice(0, 100));
  throw new AppError('invalid_parameter', `column ${shown} not found in ${handle}${didYouMeanName(name, names)}`, {
    hint: `its columns are ${names.slice(0, 50).join(', ')}`,
  });
}

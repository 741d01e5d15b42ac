import type { Column } from '@framehold/columns';
import type { Principal } from '../core/callers/principal.ts';
import { AppError } from '../core/errors/app-error.ts';
import { localEngineName } from '../core/names/engine-names.ts';
import type { FrameName } from '../core/names/frame-name.ts';
import type { SqlResult } from '../core/sql/sql.ts';
import type { Tsdb } from '../core/sql/tsdb.ts';
import { frameDamaged } from '../frames/catalog/frame-errors.ts';
import type { Frames } from '../frames/frames.ts';
import type { AnalysedStatement, CallOptions, EngineChoice, FrameSql } from '../query/frame-sql.ts';
import { sqlText } from '../query/tables/frame-tables.ts';
import { type PlotColumns, plotColumns } from './plot-columns.ts';
import { isWhole, plotOfPoints, plotOfRows, type Row, resultRows } from './plot-rows.ts';
import { mostRows, type Plot, type PlotSpec } from './plot-spec.ts';
import {
  type Ends,
  endsSql,
  givenEnds,
  type PlotSource,
  type PlotSql,
  plotSql,
  quickPlotSql,
  scatterPointsSql,
} from './plot-sql.ts';
import { reducePoints, reduceRows } from './reduce-rows.ts';
import { tsdbRows } from './tsdb-rows.ts';

/** A line of more rows is made by two statements at the same time: one has one core, and people wait for it. */
const mostRowsOfPart = 2_000_000;

export interface PlotterOptions {
  readonly sql: FrameSql;
  readonly frames: Pick<Frames, 'describe'>;
}

/** The values of the parameters that a statement takes. */
export type BindParameters = (statement: AnalysedStatement) => Uint8Array | undefined;

interface PlotCall extends CallOptions {
  /** Binds the parameters of the caller's own statement, and so of those around it. */
  readonly bind?: BindParameters;
}

/** Plots of frames and statements, reduced to the resolution of a screen. Each runs as a statement of its caller. */
export class Plotter {
  readonly #sql: FrameSql;
  readonly #frames: Pick<Frames, 'describe'>;

  constructor({ sql, frames }: PlotterOptions) {
    this.#sql = sql;
    this.#frames = frames;
  }

  async ofFrame(principal: Principal, handle: FrameName, spec: PlotSpec, caller: CallOptions): Promise<Plot> {
    const options = { ...caller, shownAs: `plot of ${handle}: ${spec.kind}` };
    const frame = await this.#frames.describe(principal, handle, options);
    if (frame.state === 'damaged') throw frameDamaged(handle, frame.reason);
    const columns = plotColumns(spec, frame.columns);
    const source = { kind: 'table', name: sqlText(handle) } as const;
    if (frame.rows <= mostRowsOfPart || !canBeDivided(columns, spec)) {
      return await this.#inEngine(principal, source, columns, spec, options);
    }
    const plot = await this.#inEngine(principal, source, columns, spec, options, true);
    const after = await this.#frames.describe(principal, handle, options);
    // Its rows were replaced between the parts.
    const isMixed = after.state === 'damaged' || after.lineage !== frame.lineage;
    return isMixed ? await this.ofFrame(principal, handle, spec, caller) : plot;
  }

  /** For a frame whose columns are known. */
  async ofColumns(
    principal: Principal,
    handle: FrameName,
    columns: readonly Column[],
    spec: PlotSpec,
    options: CallOptions,
  ): Promise<Plot> {
    const source = { kind: 'table', name: sqlText(handle) } as const;
    return await this.#inEngine(principal, source, plotColumns(spec, columns), spec, options);
  }

  /** On the local engine the rows are reduced where they are; of another one at most `mostRows` are taken. */
  async ofStatement(
    principal: Principal,
    choice: EngineChoice,
    spec: PlotSpec,
    caller: CallOptions & { readonly bind: BindParameters },
  ): Promise<Plot> {
    const options = { ...caller, shownAs: choice.sql };
    const statement = await this.#sql.analyze(principal, choice, options);
    if (statement.kind !== 'query' && statement.kind !== 'showTables') {
      throw new AppError('sql_forbidden', 'only a query can be plotted', {
        hint: 'send what changes frames to POST /sql',
      });
    }
    const parameters = caller.bind(statement);
    if (statement.engine === localEngineName && statement.kind === 'query') {
      const bound = await this.#sql.boundColumns(principal, { statement, parameters }, options);
      const columns = plotColumns(spec, bound);
      const source = { kind: 'statement', sql: choice.sql } as const;
      if (await this.#isTable(principal, plotSql(source, columns, spec), options)) {
        return await this.#inEngine(principal, source, columns, spec, options);
      }
    }
    return await this.#ofFirstRows(principal, statement, spec, options);
  }

  /** Some statements cannot stand inside another one: PIVOT without its values, SHOW, DESCRIBE. */
  async #isTable(principal: Principal, { sql }: PlotSql, options: CallOptions): Promise<boolean> {
    try {
      await this.#sql.analyze(principal, { sql, engine: localEngineName }, options);
      return true;
    } catch (error) {
      if (error instanceof AppError && (error.code === 'sql_error' || error.code === 'sql_forbidden')) return false;
      throw error;
    }
  }

  async #inEngine(
    principal: Principal,
    source: PlotSource,
    columns: PlotColumns,
    spec: PlotSpec,
    options: PlotCall,
    isDivided = false,
  ): Promise<Plot> {
    if (spec.kind === 'scatter') {
      const points = await this.#run(principal, scatterPointsSql(source, columns, spec), options);
      const plot = plotOfPoints(points, columns, spec);
      if (plot !== undefined) return plot;
    }
    const quick = await this.#quickRows(principal, source, columns, spec, options, isDivided);
    return plotOfRows(quick ?? (await this.#run(principal, plotSql(source, columns, spec), options)), columns, spec);
  }

  /** Undefined where more care is needed. */
  async #quickRows(
    principal: Principal,
    source: PlotSource,
    columns: PlotColumns,
    spec: PlotSpec,
    options: PlotCall,
    isDivided: boolean,
  ): Promise<readonly Row[] | undefined> {
    // A statement would run once for its ends, and again for its points.
    if ((spec.kind !== 'line' && spec.kind !== 'band') || source.kind === 'statement') return undefined;
    try {
      const ends = givenEnds(columns, spec) ?? (await this.#ends(principal, source, columns, spec, options));
      if (ends === undefined) return undefined;
      const parts = isDivided ? halves(spec, ends) : [spec];
      const run = (part: PlotSpec): Promise<readonly Row[]> =>
        this.#run(principal, quickPlotSql(source, columns, part, ends), options);
      const rows = (await Promise.all(parts.map(run))).flat();
      return rows.every((row) => isWhole(row, columns, spec)) ? rows : undefined;
    } catch (error) {
      if (error instanceof AppError && error.code === 'sql_error') return undefined;
      throw error;
    }
  }

  /** Undefined where there are none, or where they are no numbers. */
  async #ends(
    principal: Principal,
    source: PlotSource,
    columns: PlotColumns,
    spec: PlotSpec,
    options: PlotCall,
  ): Promise<Ends | undefined> {
    const [row] = await this.#run(principal, endsSql(source, columns, spec), options);
    const [lo, hi] = [row?.[0] ?? null, row?.[1] ?? null];
    return lo === null || hi === null ? undefined : { lo: String(lo), hi: String(hi) };
  }

  async #run(principal: Principal, { sql, offset }: PlotSql, options: PlotCall): Promise<readonly Row[]> {
    try {
      const statement = await this.#sql.analyze(principal, { sql, engine: localEngineName }, options);
      const request = { statement, parameters: options.bind?.(statement), form: 'exec-json-quoted' } as const;
      await using result = await this.#sql.query(principal, request, options);
      return await resultRows(result);
    } catch (error) {
      throw inCallersText(error, offset);
    }
  }

  async #ofFirstRows(
    principal: Principal,
    statement: AnalysedStatement,
    spec: PlotSpec,
    options: PlotCall,
  ): Promise<Plot> {
    const request = {
      statement,
      parameters: options.bind?.(statement),
      form: 'exec-json-quoted',
      toRow: mostRows + 1,
    } as const;
    await using result: SqlResult = await this.#sql.query(principal, request, options);
    return plotOfFirstRows(await resultRows(result), result.columns, spec);
  }
}

/** Whether two statements can each make a part of it, beside each other. A bucket that both have rows of has points of both. */
function canBeDivided({ x, series }: PlotColumns, { kind }: PlotSpec): boolean {
  return kind === 'line' && series === undefined && (x.kind === 'time' || x.kind === 'integer' || x.kind === 'long');
}

function halves(spec: PlotSpec, { lo, hi }: Ends): readonly PlotSpec[] {
  const [from, to] = [Number(lo), Number(hi)];
  if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to)) return [spec];
  const middle = Math.floor(from + (to - from) / 2);
  return [
    { ...spec, to: middle },
    { ...spec, from: middle + 1 },
  ];
}

/** The plot of a statement on the external database. */
export async function plotOfTsdb(
  tsdb: Tsdb,
  sql: string,
  spec: PlotSpec,
  options: { readonly signal: AbortSignal },
): Promise<Plot> {
  const { columns, rows } = await tsdbRows(tsdb, sql, options);
  return plotOfFirstRows(rows, columns, spec);
}

/** A plot of rows that are here, of which the last may be one too many. */
function plotOfFirstRows(rows: readonly Row[], columns: readonly Column[], spec: PlotSpec): Plot {
  const places = plotColumns(spec, columns);
  const cut = rows.length > mostRows;
  const taken = cut ? rows.slice(0, mostRows) : rows;
  const points = spec.kind === 'scatter' ? plotOfPoints(reducePoints(taken, places, spec), places, spec) : undefined;
  // These came as JSON, where NaN and infinities are null.
  const { notFinite: _, ...plot } = points ?? plotOfRows(reduceRows(taken, places, spec), places, spec);
  return { ...plot, cut };
}

/** Moves the position of an error into the caller's own text. */
function inCallersText(error: unknown, offset: number): unknown {
  if (!(error instanceof AppError) || error.position === undefined || offset === 0) return error;
  return error.with({ position: Math.max(0, error.position - offset) });
}

import { AppError } from '../../core/app-error.ts';
import type { Column } from '../../core/data-type.ts';
import { localEngineName } from '../../core/engine-names.ts';
import { type FrameName, isSharedName, splitSharedName } from '../../core/frame-name.ts';
import type { Principal } from '../../core/principal.ts';
import type { SqlResult } from '../../core/sql.ts';
import type { Tsdb } from '../../core/tsdb.ts';
import type { Frames } from '../../frames/frames.ts';
import type { AnalysedStatement, CallOptions, EngineChoice, FrameSql } from '../frame-sql.ts';
import { type PlotColumns, plotColumns } from './plot-columns.ts';
import { isWhole, plotOfPoints, plotOfRows, type Row } from './plot-rows.ts';
import { mostRows, type Plot, type PlotSpec } from './plot-spec.ts';
import { type PlotSource, type PlotSql, plotSql, scatterPointsSql } from './plot-sql.ts';
import { reducePoints, reduceRows } from './reduce-rows.ts';
import { resultRows } from './result-rows.ts';
import { tsdbRows } from './tsdb-rows.ts';

export interface PlotterOptions {
  readonly sql: FrameSql;
  readonly frames: Pick<Frames, 'describe'>;
}

/** Plots of frames and statements, reduced to what a screen can show. Each runs as a statement of its caller. */
export class Plotter {
  readonly #sql: FrameSql;
  readonly #frames: Pick<Frames, 'describe'>;

  constructor({ sql, frames }: PlotterOptions) {
    this.#sql = sql;
    this.#frames = frames;
  }

  async ofFrame(principal: Principal, handle: FrameName, spec: PlotSpec, options: CallOptions): Promise<Plot> {
    const frame = await this.#frames.describe(principal, handle, options);
    if (frame.state === 'damaged') throw new AppError('frame_damaged', `${handle} is damaged: ${frame.reason}`);
    return await this.ofColumns(principal, handle, frame.columns, spec, options);
  }

  /** Of a frame whose columns are known. */
  async ofColumns(
    principal: Principal,
    handle: FrameName,
    columns: readonly Column[],
    spec: PlotSpec,
    options: CallOptions,
  ): Promise<Plot> {
    const source = { kind: 'table', name: tableName(handle) } as const;
    return await this.#inEngine(principal, source, plotColumns(spec, columns), spec, options);
  }

  /** On the local engine the rows are reduced where they are; of another one at most `mostRows` are taken. */
  async ofStatement(principal: Principal, choice: EngineChoice, spec: PlotSpec, options: CallOptions): Promise<Plot> {
    const statement = await this.#sql.analyze(principal, choice, options);
    if (statement.kind !== 'query' && statement.kind !== 'showTables') {
      throw new AppError('sql_forbidden', 'only a query can be plotted', {
        hint: 'send what changes frames to POST /sql',
      });
    }
    if (statement.kind === 'query' && statement.query.parameterCount > 0) {
      throw new AppError('sql_error', 'the statement has parameters, and a plot takes none');
    }
    if (statement.engine === localEngineName && statement.kind === 'query') {
      const prepared = await this.#sql.prepare(principal, statement, options);
      const columns = plotColumns(spec, prepared.columns);
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
    options: CallOptions,
  ): Promise<Plot> {
    if (spec.kind === 'scatter') {
      const points = await this.#run(principal, scatterPointsSql(source, columns, spec), options);
      const plot = plotOfPoints(points, columns, spec);
      if (plot !== undefined) return plot;
    }
    const quick = await this.#quickRows(principal, plotSql(source, columns, spec, 'quick'), columns, spec, options);
    return plotOfRows(quick ?? (await this.#run(principal, plotSql(source, columns, spec), options)), columns, spec);
  }

  /** Undefined where more care is needed. */
  async #quickRows(
    principal: Principal,
    sql: PlotSql,
    columns: PlotColumns,
    spec: PlotSpec,
    options: CallOptions,
  ): Promise<readonly Row[] | undefined> {
    if (spec.kind !== 'line' && spec.kind !== 'band') return undefined;
    try {
      const rows = await this.#run(principal, sql, options);
      return rows.every((row) => isWhole(row, columns, spec)) ? rows : undefined;
    } catch (error) {
      if (error instanceof AppError && error.code === 'sql_error') return undefined;
      throw error;
    }
  }

  async #run(principal: Principal, { sql, offset }: PlotSql, options: CallOptions): Promise<readonly Row[]> {
    try {
      const statement = await this.#sql.analyze(principal, { sql, engine: localEngineName }, options);
      await using result = await this.#sql.query(principal, { statement, form: 'exec-json-quoted' }, options);
      return await resultRows(result);
    } catch (error) {
      throw inCallersText(error, offset);
    }
  }

  async #ofFirstRows(
    principal: Principal,
    statement: AnalysedStatement,
    spec: PlotSpec,
    options: CallOptions,
  ): Promise<Plot> {
    const request = { statement, form: 'exec-json-quoted', toRow: mostRows + 1 } as const;
    await using result: SqlResult = await this.#sql.query(principal, request, options);
    return plotOfFirstRows(await resultRows(result), result.columns, spec);
  }
}

/** Of a statement on the external database. */
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
  return { ...(points ?? plotOfRows(reduceRows(taken, places, spec), places, spec)), cut };
}

/** A frame as SQL names it. */
export function tableName(name: FrameName): string {
  const parts = isSharedName(name) ? Object.values(splitSharedName(name)) : [name];
  return parts.map((part) => `"${part.replaceAll('"', '""')}"`).join('.');
}

/** Errors tell where in the caller's own text they are. */
function inCallersText(error: unknown, offset: number): unknown {
  if (!(error instanceof AppError) || error.position === undefined || offset === 0) return error;
  const { code, message, hint, retryAfterSeconds, cause, position } = error;
  return new AppError(code, message, { hint, retryAfterSeconds, cause, position: Math.max(0, position - offset) });
}

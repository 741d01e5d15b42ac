import type { Principal } from '../core/callers/principal.ts';
import { AppError } from '../core/errors/app-error.ts';
import { type FrameName, isSharedName, splitSharedName } from '../core/names/frame-name.ts';
import type { ChunkForm } from '../core/rows/frame-engine.ts';
import type { FrameTable, Query, SqlEngine, SqlResult, TableName } from '../core/sql/sql.ts';
import { resultOver } from '../core/sql/sql-result.ts';
import type { Frames } from '../frames/frames.ts';
import type { FrameReader } from '../frames/read/frame-reader.ts';
import type { CallOptions } from './frame-sql.ts';
import { definitionsIn } from './tables/definitions-in.ts';
import { tableOf } from './tables/frame-tables.ts';

/** A predicate that was checked. Only `RowFilter.parse` makes one. */
export interface RowPredicate {
  readonly query: Query;
  /** Characters of ours before the caller's text. */
  readonly offset: number;
}

export interface FilteredRange {
  readonly handle: FrameName;
  readonly predicate: RowPredicate;
  /** Rows [from, to) of the frame. */
  readonly from: number;
  readonly to: number;
  /** Default: all. */
  readonly columns?: readonly string[] | undefined;
  readonly form: ChunkForm;
  /** Throws if this is another frame. */
  assertFrame(frame: Pick<FrameReader, 'lineage'>): void;
}

/** The name of the rows in the server's own statement: no handle. */
const rowsName = '#rows';
const longestPredicate = 10_000;

/** Rows of a frame that a SQL predicate holds for, in their order. */
export class RowFilter {
  readonly #engine: SqlEngine;
  readonly #frames: Pick<Frames, 'open' | 'definitions'>;

  constructor({
    engine,
    frames,
  }: { readonly engine: SqlEngine; readonly frames: Pick<Frames, 'open' | 'definitions'> }) {
    this.#engine = engine;
    this.#frames = frames;
  }

  /** Checks the text like any statement of a caller. It may read nothing but the row that it is evaluated on. */
  async parse(principal: Principal, handle: FrameName, where: string, options: CallOptions): Promise<RowPredicate> {
    assertPredicate(where);
    const name = isSharedName(handle) ? splitSharedName(handle).handle : handle;
    const before = `SELECT * FROM "${rowsName}" AS "${name}" WHERE (\n`;
    const offset = before.length;
    try {
      const definitions = await definitionsIn(this.#frames, principal, where, options.temporary);
      const job = { ...options, tenant: principal.tenant, definitions };
      const statement = await this.#engine.analyze(`${before}${where}\n)`, job);
      if (statement.kind !== 'query') throw notPredicate('it is not a predicate');
      const { query } = statement;
      const isRow = ({ catalog, schema, name: table }: TableName): boolean =>
        table === rowsName && schema === undefined && catalog === undefined;
      if (!query.tables.every(isRow)) throw notPredicate('it reads a table');
      if (query.parameterCount > 0) throw notPredicate('it has parameters');
      return { query, offset };
    } catch (error) {
      throw inCallersText(error, handle, offset);
    }
  }

  async run(principal: Principal, range: FilteredRange, options: CallOptions): Promise<SqlResult> {
    const { handle, predicate, columns, form } = range;
    const reader = await this.#frames.open(principal, handle, options);
    try {
      return await resultOver(reader, async () => {
        range.assertFrame(reader);
        const table = await rangeTable(reader, principal, range);
        const job = { query: predicate.query, tables: [table], columns, form };
        return await this.#engine.run(job, { ...options, tenant: principal.tenant });
      });
    } catch (error) {
      throw inCallersText(error, handle, predicate.offset);
    }
  }
}

async function rangeTable(
  reader: FrameReader,
  { tenant }: Principal,
  { handle: name, from, to }: FilteredRange,
): Promise<FrameTable> {
  const owner = isSharedName(name) ? splitSharedName(name).owner : undefined;
  const table = await tableOf(reader, tenant, { name: rowsName, schema: undefined, owner });
  // With the types of the rows that are not filtered.
  return { ...table, readAs: undefined, range: { from, to } };
}

/** Refuses only text that would end the parentheses around it, or read other rows: the engine checks the rest. */
function assertPredicate(where: string): void {
  if (where.trim() === '') throw notPredicate('it is empty');
  if (where.length > longestPredicate) throw notPredicate(`it has more than ${longestPredicate} characters`);
  const words = where.replaceAll(/'(?:[^']|'')*'|"(?:[^"]|"")*"/g, ' ');
  let depth = 0;
  for (const character of words) {
    if (character === '(') depth++;
    else if (character === ')' && --depth < 0) break;
  }
  if (depth !== 0) throw notPredicate('its parentheses do not match');
  if (/\bselect\b/i.test(words)) throw notPredicate('it has a subquery');
  if (/--|\/\*/.test(words)) throw notPredicate('it has a comment');
}

function notPredicate(why: string): AppError {
  return new AppError('sql_forbidden', `where is no predicate over the row: ${why}`, {
    hint: "compare columns of the frame, such as symbol = 'A' and price > 10",
  });
}

/** With the names and places that the caller knows. An aggregate is found only where the statement is bound. */
function inCallersText(error: unknown, handle: FrameName, offset: number): unknown {
  if (!(error instanceof AppError)) return error;
  if (error.code === 'sql_error' && /WHERE clause cannot contain (aggregates|window)/i.test(error.message))
    return notPredicate('it has an aggregate');
  const position = error.position && Math.max(0, error.position - offset);
  return error.with({ message: error.message.replaceAll(rowsName, handle), position });
}

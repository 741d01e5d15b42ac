import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Address } from '../harness/doors.ts';
import { promised } from '../harness/scenario.ts';
import { rowsBySql } from '../harness/sql-change.ts';
import type { ColumnCase } from './column-case.ts';
import { type Comparison, inLanes } from './comparison.ts';
import type { ForeignFrames } from './foreign-files.ts';
import { sql } from './put-doors.ts';
import type { Reference } from './reference.ts';
import { rowsOf, type TableCase } from './table-case.ts';

interface ChangedFrame {
  readonly name: string;
  readonly column: ColumnCase;
  /** With this column alone. */
  readonly table: TableCase;
}

/** One of so many columns is changed, in a frame of its own. */
const share = 4;

/** Frames of one column whose rows are changed by conditions on it. */
export class ChangedFrames {
  readonly #frames: readonly ChangedFrame[];
  readonly #reference: Reference;
  readonly #comparison: Comparison;

  constructor(tables: readonly TableCase[], reference: Reference, comparison: Comparison) {
    this.#frames = tables.flatMap((table) =>
      table.columns
        .filter((_, index) => index % share === 0)
        .map((column) => ({ name: `n_${column.name}`, column, table: { ...table, columns: [column] } })),
    );
    this.#reference = reference;
    this.#comparison = comparison;
  }

  get names(): readonly string[] {
    return this.#frames.map(({ name }) => name);
  }

  async make(server: Address): Promise<void> {
    await inLanes(
      this.#frames.map(({ name, table }) => async () => {
        const { status, text } = await sql(server, `CREATE TABLE ${name} AS ${rowsOf(table)}`);
        promised(status === 200, 'a table is made', text.slice(-600));
      }),
    );
  }

  /** As Arrow streams, for those who write files. */
  async write(server: Address, folder: string): Promise<void> {
    // As Arrow a UUID is text.
    const wanted = this.#frames.filter(({ table, column }) => table.isFromOutside && column.kind.type !== 'UUID');
    await inLanes(
      wanted.map(({ name, table }) => async () => {
        await writeFile(join(folder, `${name}.arrow`), (await sql(server, rowsOf(table), 'arrow')).body);
      }),
    );
  }

  /** The same changes here and there. `foreign`: frames that others made of the rows, which are changed in the place of ours. */
  async run(server: Address, state: string, foreign?: ForeignFrames['changed']): Promise<void> {
    const tasks: (() => Promise<void>)[] = [];
    for (const { name, column, table } of this.#frames) {
      const { frame, rows } = foreign === undefined ? { frame: name, rows: rowsOf(table) } : (foreign.get(name) ?? {});
      if (frame === undefined || rows === undefined) continue;
      const outcomes = await this.#outcomesOf(name, column, rows);
      tasks.push(() => this.#change(server, state, frame, column, outcomes));
    }
    await inLanes(tasks);
  }

  /** What the changes do to the rows in memory, one after the other. */
  async #outcomesOf(name: string, column: ColumnCase, rows: string): Promise<readonly Outcome[]> {
    const outcomes: Outcome[] = [];
    await this.#reference.run(`CREATE OR REPLACE TABLE ${name} AS ${rows}`);
    for (const change of changesOf(column)) {
      const count = await this.#count(name, change.condition);
      await this.#reference.run(change.sql(name));
      const summary = await this.#reference.rows(`${summaryOf(column)} ${name}`);
      outcomes.push({ change, expected: [count, ...summary.flat()].join() });
    }
    return outcomes;
  }

  async #change(
    server: Address,
    state: string,
    frame: string,
    column: ColumnCase,
    outcomes: readonly Outcome[],
  ): Promise<void> {
    for (const { change, expected } of outcomes) {
      const { status, text } = await sql(server, change.sql(frame));
      const answer = status === 200 ? JSON.parse(text).updated : text;
      const found = [answer, ...(await rowsBySql<string[]>(server, `${summaryOf(column)} ${frame}`)).flat()].join();
      this.#comparison.asked++;
      if (found === expected) continue;
      this.#comparison.note(column, { state, frame, asked: change.sql(frame), expected, found });
      // What follows would differ as well.
      return;
    }
  }

  async #count(table: string, condition: string): Promise<string> {
    const [[count] = []] = await this.#reference.rows(`SELECT count(*)::VARCHAR AS n FROM ${table} WHERE ${condition}`);
    return count ?? '';
  }
}

interface Outcome {
  readonly change: Change;
  readonly expected: string;
}

interface Change {
  readonly condition: string;
  readonly sql: (frame: string) => string;
}

/** Tells which rows there are, which were changed how often, and the values. */
function summaryOf({ name }: ColumnCase): string {
  return `SELECT count(*)::VARCHAR AS n, sum(i * m)::VARCHAR AS m, sum(i * i)::VARCHAR AS s,
    md5(string_agg(coalesce(${name}::VARCHAR, 'null'), chr(31) ORDER BY i)) AS v FROM`;
}

/** UPDATE and one of the others. */
function changesOf({ seed, name: c, condition, value }: ColumnCase): Change[] {
  const equal = `${c} = ${value}`;
  const key = `(SELECT ${value} AS ${c}) AS k`;
  const others: readonly Change['sql'][] = [
    (frame) => `MERGE INTO ${frame} AS f USING ${key} ON f.${c} = k.${c} WHEN MATCHED THEN UPDATE SET m = f.m + 10`,
    (frame) => `UPDATE ${frame} AS f SET m = f.m + 100 FROM ${key} WHERE f.${c} = k.${c}`,
    (frame) => `DELETE FROM ${frame} WHERE ${equal}`,
  ];
  const other = others[seed % others.length] as Change['sql'];
  const update: Change = { condition, sql: (frame) => `UPDATE ${frame} SET m = m + 1 WHERE ${condition}` };
  const changes = [update, { condition: equal, sql: other }];
  return seed % 2 === 0 ? changes : changes.reverse();
}

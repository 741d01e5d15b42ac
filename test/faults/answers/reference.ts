import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Connection, Session } from '@framehold/duckdb';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import type { Question } from './column-case.ts';
import { rowsOf, type TableCase } from './table-case.ts';

/** What a question found: how many rows, and a number that tells which. */
export type Found = readonly [n: string, s: string];

/** The rows in the memory of a DuckDB of this process, which writes and reads no file for what it answers. */
export class Reference implements AsyncDisposable {
  readonly #connection: Connection;
  readonly #folder: AsyncDisposable & { readonly path: string };
  #files = 0;
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(connection: Connection, folder: AsyncDisposable & { readonly path: string }) {
    this.#connection = connection;
    this.#folder = folder;
  }

  static async open(tables: readonly TableCase[]): Promise<Reference> {
    const tempDirectory = join(tmpdir(), 'framehold-reference');
    const session = new Session({ threads: 1, memoryBytes: 1e9, tempDirectory, maxTempBytes: 1e9 });
    const reference = new Reference(session.connect(), await temporaryDirectory());
    await reference.run("SET TimeZone = 'UTC'");
    for (const table of tables) await reference.run(`CREATE TABLE ${table.name} AS ${rowsOf(table)}`);
    return reference;
  }

  /** Of files that go with it. */
  get folder(): string {
    return this.#folder.path;
  }

  async run(sql: string): Promise<void> {
    await this.#inTurn(() => this.#connection.run(sql));
  }

  /** A Parquet file with the rows, as DuckDB itself writes it. */
  async parquet(rows: string): Promise<string> {
    const path = join(this.#folder.path, `${this.#files++}.parquet`);
    await this.run(`COPY (${rows}) TO '${path}' (FORMAT parquet)`);
    return path;
  }

  /** Adds the rows of a file to a table, which it makes where there is none. They are read as a whole. */
  async addFile(table: string, path: string): Promise<void> {
    const rows = `SELECT * FROM read_parquet('${path}')`;
    await this.run(`CREATE TABLE IF NOT EXISTS ${table} AS ${rows} LIMIT 0`);
    await this.run(`INSERT INTO ${table} ${rows}`);
  }

  /** Of columns of text. */
  async rows(sql: string): Promise<(string | null)[][]> {
    const rows = await this.#inTurn(() => this.#connection.rows<Record<string, string | null>>(sql));
    return rows.map((row) => Object.values(row));
  }

  async answers(frame: string, questions: readonly Question[]): Promise<Found[]> {
    const rows = await this.rows(inOneStatement(frame, questions));
    return rows.map(([n, s]) => [n ?? '', s ?? '']);
  }

  #inTurn<T>(statement: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(statement);
    this.#turn = done.catch(() => {});
    return done;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#connection[Symbol.dispose]();
    await this.#folder[Symbol.asyncDispose]();
  }
}

/** A row for each question, in their order. */
export function inOneStatement(frame: string, questions: readonly Question[]): string {
  const parts = questions.map(({ sql }, at) => `SELECT ${at} AS q, n, s FROM (${sql(frame)})`);
  return `SELECT n::VARCHAR AS n, s::VARCHAR AS s FROM (${parts.join(' UNION ALL ')}) ORDER BY q`;
}

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Batch, Column, DataType } from '@framehold/columns';
import { type Connection, Session } from '@framehold/duckdb';
import type { CsvOptions, FileReport, TextOptions } from '../../src/core/rows/frame-engine.ts';
import { importCsv } from '../../src/engines/duckdb/worker/import/csv/csv-file.ts';
import type { TextImport } from '../../src/engines/duckdb/worker/import/text/text-import.ts';
import { flatValue } from './flat-value.ts';
import { type TemporaryDirectory, temporaryDirectory } from './temporary-directory.ts';

export interface CsvRows {
  readonly names: readonly string[];
  readonly types: readonly DataType[];
  /** As `flatValue` gives them. */
  readonly rows: readonly unknown[][];
  readonly report: FileReport;
}

export type CsvWishes = Partial<CsvOptions & TextOptions>;

/** Imports CSV once by DuckDB and once without, to see whether they agree. */
export class CsvBothWays implements AsyncDisposable {
  readonly #directory: TemporaryDirectory;
  readonly #connection: Connection;
  #files = 0;

  static async open(): Promise<CsvBothWays> {
    return new CsvBothWays(await temporaryDirectory());
  }

  private constructor(directory: TemporaryDirectory) {
    this.#directory = directory;
    const tempDirectory = join(directory.path, 'spill');
    this.#connection = new Session({ threads: 1, memoryBytes: 1e9, tempDirectory, maxTempBytes: 1e9 }).connect();
  }

  async byDuckDb(content: string | Uint8Array, options: CsvWishes = {}): Promise<CsvRows> {
    const found: Found = { names: [], types: [], rows: [] };
    const report = await this.#import(content, options, {
      copy: async ({ sql, names }) => {
        await using result = await this.#connection.query(`SELECT * FROM ${sql}`);
        Object.assign(found, await collected(result.columns, result.batches()), { names });
      },
    });
    return { ...found, report };
  }

  /** Undefined: it is left to DuckDB. */
  async withoutDuckDb(content: string | Uint8Array, options: CsvWishes = {}): Promise<CsvRows | undefined> {
    let found: Found | undefined;
    const report = await this.#import(content, options, {
      writeBatches: async (columns, batches) => {
        found = await collected(columns, batches);
      },
      copy: async () => {
        throw leftToDuckDb;
      },
    }).catch((error) => {
      if (error === leftToDuckDb) return undefined;
      throw error;
    });
    return found && report && { ...found, report };
  }

  async #import(
    content: string | Uint8Array,
    { types, ...options }: CsvWishes,
    way: Pick<TextImport, 'copy' | 'writeBatches'>,
  ): Promise<FileReport> {
    const path = join(this.#directory.path, `csv-${++this.#files}`);
    const bytes = Buffer.from(content as string);
    await writeFile(path, bytes);
    const { signal } = new AbortController();
    return await importCsv(
      { connection: this.#connection, signal, path, scratchPath: `${path}-scratch`, ...way },
      {
        kind: 'csv',
        skipsBadRows: false,
        isPlainText: !bytes.includes(0),
        ...options,
        ...(types && { types: [...types] }),
      },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#connection[Symbol.dispose]();
    await this.#directory[Symbol.asyncDispose]();
  }
}

const leftToDuckDb = new Error('left to DuckDB');

type Found = Omit<CsvRows, 'report'>;

async function collected(columns: readonly Column[], batches: AsyncIterable<Batch>): Promise<Found> {
  const rows: unknown[][] = [];
  for await (const batch of batches) {
    for (let row = 0; row < batch.rows; row++) rows.push(batch.vectors.map((vector) => flatValue(vector, row)));
  }
  return { names: columns.map(({ name }) => name), types: columns.map(({ type }) => type), rows };
}

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { valueAt } from '@framehold/arrow-ipc';
import type { Batch, Column } from '@framehold/columns';
import { type Connection, Session } from '@framehold/duckdb';
import { importCsv } from '../../src/engines/duckdb/worker/import/csv/csv-file.ts';
import { importJson } from '../../src/engines/duckdb/worker/import/json/json-file.ts';
import { type TemporaryDirectory, temporaryDirectory } from './temporary-directory.ts';

/** The engine's imports of text for a frame that has columns already, as plain values. */
export class TextImports implements AsyncDisposable {
  readonly #directory: TemporaryDirectory;
  readonly #connection: Connection;
  #files = 0;

  static async open(): Promise<TextImports> {
    return new TextImports(await temporaryDirectory());
  }

  private constructor(directory: TemporaryDirectory) {
    this.#directory = directory;
    const tempDirectory = join(directory.path, 'spill');
    this.#connection = new Session({ threads: 1, memoryBytes: 1e9, tempDirectory, maxTempBytes: 1e9 }).connect();
  }

  async rows(kind: 'csv' | 'json', content: string, like: readonly Column[]): Promise<unknown[][]> {
    const path = join(this.#directory.path, `text-${++this.#files}`);
    await writeFile(path, content);
    const rows: unknown[][] = [];
    const job = {
      connection: this.#connection,
      signal: new AbortController().signal,
      path,
      scratchPath: `${path}-scratch`,
      copy: async ({ sql }: { readonly sql: string }) => {
        rows.length = 0;
        await using result = await this.#connection.query(`SELECT * FROM ${sql}`);
        for await (const batch of result.batches()) rows.push(...rowsOf(batch));
      },
    };
    if (kind === 'csv') await importCsv(job, { kind, skipsBadRows: false, isPlainText: !content.includes('\0'), like });
    else await importJson(job, { kind, skipsBadRows: false, like });
    return rows;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#connection[Symbol.dispose]();
    await this.#directory[Symbol.asyncDispose]();
  }
}

export function rowsOf({ rows, vectors }: Batch): unknown[][] {
  return Array.from({ length: rows }, (_, row) => vectors.map((vector) => valueAt(vector, row)));
}

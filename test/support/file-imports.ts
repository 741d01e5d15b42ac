import assert from 'node:assert/strict';
import { join } from 'node:path';
import { sqlTypeName } from '@framehold/columns';
import { silentLogger } from '../../src/core/logs/logger.ts';
import type { FileFormat, WrittenPart } from '../../src/core/rows/frame-engine.ts';
import { DuckDbEngine, type DuckDbEngineOptions } from '../../src/engines/duckdb/duckdb-engine.ts';
import { spool } from '../../src/http/routes/imp/upload-spool.ts';
import { type TemporaryDirectory, temporaryDirectory } from './temporary-directory.ts';

const never = new AbortController().signal;

export interface Imported {
  readonly part: WrittenPart;
  readonly path: string;
  readonly names: readonly string[];
  readonly types: readonly string[];
  readonly rows: readonly unknown[][];
}

/** For a CSV, properties that are found as its bytes are written may be absent. */
export type GivenFormat =
  | Exclude<FileFormat, { kind: 'csv' }>
  | Omit<Extract<FileFormat, { kind: 'csv' }>, 'isPlainText'>;

/** Writes bytes to a file, lets the engine import it, and reads the result back. */
export class FileImports implements AsyncDisposable {
  readonly engine: DuckDbEngine;
  readonly directory: TemporaryDirectory;
  #files = 0;

  static async open(options: Partial<DuckDbEngineOptions> = {}): Promise<FileImports> {
    return new FileImports(await temporaryDirectory(), options);
  }

  private constructor(directory: TemporaryDirectory, options: Partial<DuckDbEngineOptions>) {
    this.directory = directory;
    this.engine = new DuckDbEngine({
      workers: 1,
      threads: 2,
      memoryBytes: 500_000_000,
      tempDirectory: join(directory.path, 'spill'),
      maxTempBytes: 10_000_000_000,
      maxQueue: 100,
      timeoutMs: 60_000,
      logger: silentLogger,
      ...options,
    });
  }

  async put(
    content: string | Uint8Array,
    given: GivenFormat,
    { signal = never, compressesLater = true }: { signal?: AbortSignal; compressesLater?: boolean } = {},
  ): Promise<{ part: WrittenPart; path: string }> {
    const source = join(this.directory.path, `upload-${++this.#files}`);
    const path = join(this.directory.path, `part-${this.#files}.parquet`);
    const { isPlainText } = await spool(piecesOf(content), source);
    const format = given.kind === 'csv' ? { ...given, isPlainText } : given;
    const compression = { algorithm: 'zstd', level: 1 } as const;
    const part = await this.engine.write(
      { source: { kind: 'file', path: source, format }, path, compression, compressesLater },
      { signal },
    );
    return { part, path };
  }

  /** As the store does it. A CSV must give the same as DuckDB alone on the same file. */
  async import(content: string | Uint8Array, format: GivenFormat): Promise<Imported> {
    const { part, path } = await this.put(content, format);
    const text = await this.#textOf(part, path);
    if (format.kind === 'csv') {
      const alone = await this.put(content, format, { compressesLater: false });
      assert.deepEqual(
        [part.columns, part.report, text],
        [alone.part.columns, alone.part.report, await this.#textOf(alone.part, alone.path)],
      );
    }
    return {
      part,
      path,
      names: part.columns.map((column) => column.name),
      types: part.columns.map((column) => sqlTypeName(column.type)),
      rows: JSON.parse(`[${text.slice(0, -1)}]`) as unknown[][],
    };
  }

  async #textOf({ rows, columns }: WrittenPart, path: string): Promise<string> {
    const job = {
      parts: [{ path, rows }],
      columns,
      form: 'exec-json',
      fromRow: 0,
      toRow: rows,
      chunkRows: 4096,
    } as const;
    let text = '';
    for await (const { bytes } of this.engine.read(job, { signal: never })) text += Buffer.from(bytes).toString();
    return text;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.engine[Symbol.asyncDispose]();
    await this.directory[Symbol.asyncDispose]();
  }
}

async function* piecesOf(content: string | Uint8Array): AsyncGenerator<Buffer> {
  yield Buffer.from(content);
}

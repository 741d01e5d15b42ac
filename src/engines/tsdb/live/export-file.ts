import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataType } from '@framehold/columns';
import { type ParquetFacts, physicalType, readParquetFooter } from '@framehold/parquet';
import type { Tenant } from '../../../core/callers/principal.ts';
import { AppError } from '../../../core/errors/app-error.ts';
import { storageError } from '../../../core/errors/storage-error.ts';
import type { LiveFile } from '../../../core/sql/live-tables.ts';
import type { SourceColumn } from './describe-live.ts';

export interface ExportFilesOptions {
  /** For this process alone. Each tenant has a folder in it. */
  readonly directory: string;
  /** Limit for all files together, and so for each. */
  readonly maxBytes: number;
}

/** Files with rows of the external database, for as long as statements read them. */
export class ExportFiles {
  readonly #options: ExportFilesOptions;
  #bytes = 0;

  constructor(options: ExportFilesOptions) {
    this.#options = options;
  }

  /** Writes a body to a file. Rejects with `tsdb_unreachable` where that is not a whole Parquet file with these columns. */
  async write(
    body: AsyncIterable<Uint8Array>,
    tenant: Tenant,
    { name, columns }: { readonly name: string; readonly columns: readonly SourceColumn[] },
  ): Promise<LiveFile> {
    const folder = join(this.#options.directory, tenant);
    const path = join(folder, `${randomUUID()}.parquet`);
    const readAt = new Date();
    let bytes = 0;
    const dispose = async (): Promise<void> => {
      await rm(path, { force: true });
      this.#bytes -= bytes;
      bytes = 0;
    };
    try {
      await mkdir(folder, { recursive: true });
      await using file = await openForWriting(path);
      for await (const piece of body) {
        bytes += piece.byteLength;
        this.#bytes += piece.byteLength;
        this.#checkRoom(bytes, name);
        await file.write(piece);
      }
      const { rows, columns: found } = await factsOf(path);
      assertColumns(found, columns);
      return { path, rows, bytes, readAt, [Symbol.asyncDispose]: dispose };
    } catch (error) {
      await dispose();
      throw storageError(error);
    }
  }

  #checkRoom(bytes: number, name: string): void {
    const { maxBytes } = this.#options;
    if (bytes > maxBytes) {
      throw new AppError('too_large', `the rows of ${name} that the statement needs take more than ${maxBytes} bytes`, {
        hint: `compare its designated timestamp or symbols with literals, name fewer columns, or aggregate there: tsdb.query('SELECT … SAMPLE BY 1m'); the operator can raise tsdb.max_federated_bytes`,
      });
    }
    if (this.#bytes <= maxBytes) return;
    throw new AppError(
      'overloaded',
      `statements have fetched ${maxBytes} bytes of the external database, and may not fetch more`,
      {
        hint: 'send the statement again shortly',
        retryAfterSeconds: 1,
      },
    );
  }
}

interface OpenFile extends AsyncDisposable {
  write(bytes: Uint8Array): Promise<void>;
}

async function openForWriting(path: string): Promise<OpenFile> {
  const file: FileHandle = await open(path, 'wx', 0o600);
  return {
    async write(bytes) {
      for (let at = 0; at < bytes.byteLength; ) at += (await file.write(bytes, at)).bytesWritten;
    },
    [Symbol.asyncDispose]: () => file.close(),
  };
}

async function factsOf(path: string): Promise<ParquetFacts> {
  try {
    return await readParquetFooter(path);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new AppError('tsdb_unreachable', 'the external database sent a Parquet file that is not whole', {
      hint: 'send the statement again',
      retryAfterSeconds: 1,
      cause: error,
    });
  }
}

function assertColumns(found: ParquetFacts['columns'], wanted: readonly SourceColumn[]): void {
  const isAlike =
    found.length === wanted.length &&
    wanted.every(({ stored, type }, index) => {
      const column = found[index];
      return column?.name === stored && column.physical === physicalOf(type);
    });
  if (isAlike) return;
  throw changedMeanwhile();
}

/** A table may be altered between two requests. */
export function changedMeanwhile(cause?: unknown): AppError {
  return new AppError('tsdb_unreachable', 'the external database sent other columns than it had told of', {
    hint: 'the table may have been altered just now: send the statement again',
    retryAfterSeconds: 1,
    cause,
  });
}

/** Undefined for nested types. */
function physicalOf(type: DataType): number | undefined {
  switch (type.kind) {
    case 'boolean':
      return physicalType.boolean;
    case 'int':
      return type.bits === 64 ? physicalType.int64 : physicalType.int32;
    case 'float':
      return type.bits === 64 ? physicalType.double : physicalType.float;
    case 'timestamp':
      return physicalType.int64;
    case 'uuid':
    case 'decimal':
      return physicalType.fixedBytes;
    case 'utf8':
    case 'binary':
      return physicalType.bytes;
    default:
      return undefined;
  }
}

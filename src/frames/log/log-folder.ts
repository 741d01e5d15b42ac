import { open, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../../core/errors/storage-error.ts';
import { type Handle, randomBase32 } from '../../core/names/handle.ts';
import { type DurableFiles, storage } from '../disk/durable-file.ts';
import { lineageOf, type Manifest, mayPassOverLogs, rowsOf } from '../disk/manifest.ts';
import type { TenantDirectory } from '../disk/tenant-directory.ts';
import { LogFile } from './log-file.ts';
import { type DecodedLog, decodeLog, encodeHeader, type LogHeader, type LogRecord } from './log-record.ts';
import { OpenLogs } from './open-logs.ts';
import { type KnownFile, Tail } from './tail.ts';

/** The log of a frame lacks rows that it once had, or the frame lacks rows of its log. */
export class LogDamaged extends Error {
  /** For callers, without the name of a file. */
  readonly reason: string;

  constructor(name: string, what: string, reason = 'its log is not readable') {
    super(`the log ${name} ${what}`);
    this.name = 'LogDamaged';
    this.reason = reason;
  }
}

interface LogOnDisk extends DecodedLog {
  readonly name: string;
  readonly header: LogHeader;
}

const suffix = '.log';
const generationDigits = 10;
const mostReads = 5;

/**
 * The log files of a tenant's frames. Each writer of a frame begins a file of its own with the row from which it counts: rows
 * that a process adds after it was taken for dead count nowhere. Names sort in the order of beginning.
 */
export class LogFolder {
  readonly #directory: TenantDirectory;
  readonly #durable: DurableFiles;
  readonly #openLogs: OpenLogs;

  constructor(directory: TenantDirectory, durable: DurableFiles, openLogs = new OpenLogs()) {
    this.#directory = directory;
    this.#durable = durable;
    this.#openLogs = openLogs;
  }

  /** The rows of a frame that are not in its parts. `known` is given back where nothing has changed since. */
  async read(manifest: Manifest, known?: Tail): Promise<Tail> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#read(manifest, known);
      } catch (error) {
        // Another process removes logs that it has flushed.
        if (errnoOf(error) !== 'ENOENT' || attempt === mostReads) throw error;
      }
    }
  }

  async #read(manifest: Manifest, known: Tail | undefined): Promise<Tail> {
    const fromRow = rowsOf(manifest.parts);
    const files = await this.list(manifest.handle);
    if (known?.fromRow === fromRow && isSame(files, known.files)) return known;
    if (files.length === 0) return Tail.empty(fromRow);
    const logs: LogOnDisk[] = [];
    for (const { name } of files) {
      const log = decodeLog(await readWhole(join(this.#folder(manifest.handle), name)));
      if (log.header === undefined) throw new LogDamaged(name, 'has no readable beginning');
      logs.push({ ...log, name, header: log.header });
    }
    const own = logs.filter(({ header }) => header.lineage === lineageOf(manifest));
    if (mayPassOverLogs(manifest)) assertNoneOfOthers(logs, own);
    return Tail.of(fromRow, countedRecords(own, fromRow), logs.map(toKnown));
  }

  /** In the order in which they were begun. */
  async list(handle: Handle): Promise<KnownFile[]> {
    const folder = this.#folder(handle);
    const names = await readdir(folder).catch((error) => {
      if (errnoOf(error) === 'ENOENT') return [];
      throw error;
    });
    const files: KnownFile[] = [];
    for (const name of names.filter((one) => one.endsWith(suffix)).sort()) {
      files.push({ name, size: (await stat(join(folder, name))).size });
    }
    return files;
  }

  /** Whether a process has begun the file. */
  isOf(processId: string, name: string): boolean {
    return name.slice(generationDigits + 1).startsWith(`${processId}-`);
  }

  /** Begins a file for the rows after those of a version. The lock of the handle is held. */
  async beginAfter({ manifest, rows }: { readonly manifest: Manifest; readonly rows: number }): Promise<LogFile> {
    const { handle } = manifest;
    const header: LogHeader = { lineage: lineageOf(manifest), startRow: rows };
    const folder = this.#folder(handle);
    await this.#durable.makeFolder(folder);
    const last = (await this.list(handle)).at(-1)?.name ?? '0';
    const generation = String(Number.parseInt(last, 10) + 1).padStart(generationDigits, '0');
    const name = `${generation}-${this.#directory.ownId}-${randomBase32(4)}${suffix}`;
    // Only a process that still has its own folder can begin one.
    const temporary = this.#directory.newTemporaryPath(suffix);
    const path = join(folder, name);
    const place = { path, name, durable: this.#durable, openLogs: this.#openLogs };
    const log = await LogFile.create(temporary, encodeHeader(header), place);
    try {
      await this.#durable.rename(temporary, path);
      await this.#durable.syncDirectory(folder);
      return log;
    } catch (error) {
      await log[Symbol.asyncDispose]();
      await rm(temporary, { force: true });
      throw error;
    }
  }

  /** Removes these files, and the folder when it is empty. The lock of the handle is held. */
  async remove(handle: Handle, files: readonly Pick<KnownFile, 'name'>[]): Promise<void> {
    const folder = this.#folder(handle);
    for (const { name } of files) await this.#directory.discard(join(folder, name));
    await rmdir(folder).catch(() => {});
  }

  /** Everything of a handle. */
  async removeAll(handle: Handle): Promise<void> {
    await storage(async () => this.remove(handle, await this.list(handle)));
  }

  #folder(handle: Handle): string {
    return this.#directory.logsFolder(handle);
  }
}

/** A process that knows the logs removes them together with their rows. */
function assertNoneOfOthers(logs: readonly LogOnDisk[], own: readonly LogOnDisk[]): void {
  const other = logs.find((log) => !own.includes(log) && log.records.some(({ rows }) => rows > 0));
  if (other === undefined) return;
  throw new LogDamaged(
    other.name,
    'has rows that an earlier build of Framehold, which knows no logs, passed over',
    'an earlier build of Framehold passed over rows of its log',
  );
}

/** The records that count, from the first row that is not in Parquet. */
function countedRecords(logs: readonly LogOnDisk[], fromRow: number): LogRecord[] {
  const records: LogRecord[] = [];
  let next = fromRow;
  for (const [index, { name, header, records: found, isDamaged }] of logs.entries()) {
    const following = logs[index + 1]?.header.startRow;
    const end = following ?? Number.POSITIVE_INFINITY;
    if (end <= fromRow) continue;
    if (header.startRow > next)
      throw new LogDamaged(name, `begins at row ${header.startRow}, and row ${next} is missing`);
    for (const record of found) {
      const behind = record.firstRow + record.rows;
      if (behind > end) break;
      // A record without rows carries the marks of producers.
      if (behind < next || (behind === next && record.rows > 0)) continue;
      if (record.firstRow !== next) throw new LogDamaged(name, `has a gap before row ${record.firstRow}`);
      records.push(record);
      next = behind;
    }
    if (isDamaged && following === undefined) throw new LogDamaged(name, `is not readable behind row ${next}`);
    if (following !== undefined && next < following) {
      throw new LogDamaged(name, `ends at row ${next}, and the next one begins at ${following}`);
    }
  }
  return records;
}

function toKnown({ name, endOffset }: LogOnDisk): KnownFile {
  return { name, size: endOffset };
}

function isSame(a: readonly KnownFile[], b: readonly KnownFile[]): boolean {
  return a.length === b.length && a.every(({ name, size }, at) => b[at]?.name === name && b[at]?.size === size);
}

/** In memory of its own that begins at a multiple of 8. */
async function readWhole(path: string): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const bytes = Buffer.allocUnsafeSlow(size);
    let at = 0;
    while (at < size) {
      const { bytesRead } = await file.read(bytes, at, size - at, at);
      if (bytesRead === 0) break;
      at += bytesRead;
    }
    return bytes.subarray(0, at);
  } finally {
    await file.close();
  }
}

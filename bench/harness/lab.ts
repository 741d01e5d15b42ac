import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { copyFile, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { placeTables, tpchFolder, tpchTables } from '../data/tpch-data.ts';
import { type FrameholdServer, handlePath, startFramehold, untilReadable } from '../rivals/framehold.ts';
import { RivalUnavailable } from '../rivals/unavailable.ts';
import { type ExecTable, getExecTable } from './exec-table.ts';
import { untilQuiet } from './process-tree.ts';
import type { ClientOptions } from './server-process.ts';

/** Demo data: the number of trades. */
export const tradeRows = 1_000_000;

/** By their environment names, without the prefix. */
export type Settings = Readonly<Record<string, string>>;

/** State that all cases of a run share. */
export class Lab {
  /** Short and few rounds: shows that everything runs, its figures mean nothing. */
  readonly quick: boolean;
  /** Removed at the end. */
  readonly folder = mkdtempSync(join(tmpdir(), 'framehold-bench-'));
  /** Notes for the report, one line each. */
  readonly notes: string[] = [];
  #demo: Promise<string> | undefined;
  #trades: Promise<ExecTable> | undefined;
  #tradesPath: Promise<string> | undefined;
  #tpchDataDir: Promise<string> | undefined;

  constructor({ quick }: { readonly quick: boolean }) {
    this.quick = quick;
    process.once('exit', () => rmSync(this.folder, { recursive: true, force: true }));
  }

  /** Time under load of one contender in one round. */
  get loadMs(): number {
    return this.quick ? 300 : 4000;
  }

  get warmUpMs(): number {
    return this.quick ? 200 : 2000;
  }

  note(text: string): void {
    this.notes.push(text);
    console.log(`  ${text}`);
  }

  /** Framehold over a data directory that holds the demo frames, idle: nothing left to do in the background. */
  async startDemo(settings: Settings = {}, client: ClientOptions = {}): Promise<FrameholdServer> {
    const dataDir = await this.demoFolder();
    const server = await startFramehold({ dataDir, logPath: this.frameholdLog, settings, client });
    await untilQuiet(server.pid);
    return server;
  }

  /** Framehold over a data directory that holds the tables of TPC-H as frames, all readable, idle. */
  async startTpch(settings: Settings = {}, client: ClientOptions = {}): Promise<FrameholdServer> {
    const dataDir = await this.tpchFrames();
    const server = await startFramehold({ dataDir, logPath: this.frameholdLog, settings, client });
    try {
      for (const table of tpchTables) await untilReadable(server, table);
      await untilQuiet(server.pid);
      return server;
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The scale factor of TPC-H: 1 is six million rows of lineitem. */
  get tpchScale(): number {
    return this.quick ? 0.1 : 1;
  }

  /** The files of TPC-H, for rivals and for DuckDB in process. */
  tpchFiles(): Promise<string> {
    return tpchFolder(this.tpchScale);
  }

  get frameholdLog(): string {
    return join(this.folder, 'framehold.log');
  }

  /** The last log lines of our servers, for failures. */
  lastLogLines(): string {
    if (!existsSync(this.frameholdLog)) return '';
    return readFileSync(this.frameholdLog, 'utf8').trimEnd().split('\n').slice(-5).join('\n');
  }

  /** A data directory with the demo frames, in their final compression. */
  demoFolder(): Promise<string> {
    this.#demo ??= this.#makeDemo();
    return this.#demo;
  }

  /** All rows of the demo frame `trades`, for rivals to load. */
  trades(): Promise<ExecTable> {
    this.#trades ??= this.#readTrades();
    return this.#trades;
  }

  /** A Parquet file of the demo frame `trades` that no server touches. */
  tradesPath(): Promise<string> {
    this.#tradesPath ??= this.#copyTrades();
    return this.#tradesPath;
  }

  /** A rival, or undefined, with a note, where it cannot run. */
  async rival<T extends AsyncDisposable>(start: () => Promise<T>): Promise<T | undefined> {
    try {
      return await start();
    } catch (error) {
      if (!(error instanceof RivalUnavailable)) throw error;
      this.note(`left out: ${error.message}`);
      return undefined;
    }
  }

  async #makeDemo(): Promise<string> {
    const dataDir = join(this.folder, 'demo');
    await mkdir(dataDir);
    await using server = await startFramehold({
      dataDir,
      logPath: this.frameholdLog,
      settings: { DEMO: 'true' },
    });
    // Recompression begins when nothing has been put for a second.
    await untilQuiet(server.pid, { idleMs: 3000 });
    return dataDir;
  }

  async #copyTrades(): Promise<string> {
    const path = join(this.folder, 'trades.parquet');
    await copyFile(join(await this.demoFolder(), 'cold', 'trades.parquet'), path);
    return path;
  }

  /** A data directory with the tables of TPC-H. */
  tpchFrames(): Promise<string> {
    const make = async (): Promise<string> => {
      const dataDir = join(this.folder, 'tpch');
      await placeTables(await this.tpchFiles(), tpchTables, dataDir);
      return dataDir;
    };
    this.#tpchDataDir ??= make();
    return this.#tpchDataDir;
  }

  async #readTrades(): Promise<ExecTable> {
    await using server = await this.startDemo();
    const table = await getExecTable(`http://${server.host}:${server.port}${handlePath('trades', String(tradeRows))}`);
    if (table.dataset.length !== tradeRows) throw new Error(`trades has ${table.dataset.length} rows`);
    return table;
  }
}

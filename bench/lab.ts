import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ExecTable, getExecTable } from './exec-table.ts';
import { untilQuiet } from './process-tree.ts';
import { handlePath, startFramehold } from './rivals/framehold.ts';
import { RivalUnavailable } from './rivals/unavailable.ts';
import type { HttpServer } from './server-process.ts';

/** Demo data: how many trades there are. */
export const tradeRows = 1_000_000;

/** What all cases of a run share. */
export class Lab {
  /** Short and few rounds: shows that everything runs, its figures mean nothing. */
  readonly quick: boolean;
  /** Removed at the end. */
  readonly folder = mkdtempSync(join(tmpdir(), 'framehold-bench-'));
  /** What the report must say, one line each. */
  readonly notes: string[] = [];
  #demo: Promise<string> | undefined;
  #trades: Promise<ExecTable> | undefined;

  constructor({ quick }: { readonly quick: boolean }) {
    this.quick = quick;
    process.once('exit', () => rmSync(this.folder, { recursive: true, force: true }));
  }

  /** How long one contender is under load in one round. */
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
  async startDemo(settings: Readonly<Record<string, string>> = {}): Promise<HttpServer> {
    const server = await startFramehold({ dataDir: await this.demoFolder(), logPath: this.frameholdLog, settings });
    await untilQuiet(server.pid);
    return server;
  }

  get frameholdLog(): string {
    return join(this.folder, 'framehold.log');
  }

  /** What our servers wrote last, for when something fails. */
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

  /** A rival, or undefined, with a note, where it cannot run. */
  async rival(start: () => Promise<HttpServer>): Promise<HttpServer | undefined> {
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

  async #readTrades(): Promise<ExecTable> {
    await using server = await this.startDemo();
    const table = await getExecTable(`http://${server.host}:${server.port}${handlePath('trades', String(tradeRows))}`);
    if (table.dataset.length !== tradeRows) throw new Error(`trades has ${table.dataset.length} rows`);
    return table;
  }
}

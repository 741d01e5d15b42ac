import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { cached } from '../../support/cached.ts';
import { Missing } from '../../support/missing.ts';

const source = fileURLToPath(new URL('../node/', import.meta.url));

/** What we use of `@lancedb/arrow-flight-sql-client`. */
export interface FlightSqlClient {
  query(sql: string): Promise<{ collectToObjects(): Promise<Record<string, unknown>[]> }>;
}

interface FlightSqlModule {
  readonly Client: {
    connect(options: { host: string; username: string; password: string; insecure: boolean }): Promise<FlightSqlClient>;
  };
}

/** What we use of `@questdb/nodejs-client`. */
export interface QuestDbSender {
  table(name: string): QuestDbSender;
  symbol(name: string, value: string): QuestDbSender;
  floatColumn(name: string, value: number): QuestDbSender;
  intColumn(name: string, value: number): QuestDbSender;
  stringColumn(name: string, value: string): QuestDbSender;
  booleanColumn(name: string, value: boolean): QuestDbSender;
  at(time: bigint, unit: 'ns'): Promise<void>;
  flush(): Promise<boolean>;
  close(): Promise<void>;
}

interface QuestDbModule {
  readonly Sender: { fromConfig(configuration: string): Promise<QuestDbSender> };
}

/** The clients of test/clients/node, which are no dependencies of ours. Throws Missing. */
export async function nodeClient(): Promise<FlightSqlModule> {
  return (await packageOf('@lancedb/arrow-flight-sql-client/dist/index.js')) as FlightSqlModule;
}

export async function questDbClient(): Promise<QuestDbModule> {
  return (await packageOf('@questdb/nodejs-client/dist/es/index.mjs')) as QuestDbModule;
}

async function packageOf(file: string): Promise<unknown> {
  const lock = readFileSync(join(source, 'package-lock.json'));
  const hash = createHash('sha256').update(lock).digest('hex').slice(0, 12);
  const folder = await cached(`node-clients-${hash}`, install);
  return import(pathToFileURL(join(folder, 'node_modules', file)).href);
}

async function install(folder: string): Promise<void> {
  process.stderr.write('fetching the Node clients …\n');
  for (const file of ['package.json', 'package-lock.json']) await copyFile(join(source, file), join(folder, file));
  try {
    const options = { cwd: folder, shell: process.platform === 'win32' };
    await promisify(execFile)(
      'npm',
      ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=1'],
      options,
    );
  } catch (error) {
    const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
    const line = stderr.split('\n').find((text) => text.startsWith('npm error')) ?? 'unknown reason';
    throw new Missing(
      `fetching the packages of test/clients/node failed: ${line.replace(/https?:\/\/\S+/g, '<registry>')}`,
    );
  }
}

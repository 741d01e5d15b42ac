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

/** The client of test/clients/node, which is no dependency of ours. Throws Missing. */
export async function nodeClient(): Promise<FlightSqlModule> {
  const lock = readFileSync(join(source, 'package-lock.json'));
  const hash = createHash('sha256').update(lock).digest('hex').slice(0, 12);
  const folder = await cached(`node-clients-${hash}`, install);
  const path = join(folder, 'node_modules/@lancedb/arrow-flight-sql-client/dist/index.js');
  return (await import(pathToFileURL(path).href)) as FlightSqlModule;
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

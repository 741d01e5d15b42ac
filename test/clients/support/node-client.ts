import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { cachedPackages } from '../../support/cached-packages.ts';

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
  const folder = await cachedPackages('node-clients', { content: 'the Node clients', source });
  return import(pathToFileURL(join(folder, 'node_modules', file)).href);
}

import type { Cleanup } from '../../src/core/async/cleanup.ts';
import type { Contender } from '../harness/bench-case.ts';
import { loadContender, requestsPerSecond, warmUp } from '../harness/contenders.ts';
import { assertSameRows, getExecTable } from '../harness/exec-table.ts';
import { urlOf } from '../harness/http-get.ts';
import type { Lab } from '../harness/lab.ts';
import { untilQuiet } from '../harness/process-tree.ts';
import type { HttpServer } from '../harness/server-process.ts';
import { type FrameholdOptions, handlePath, startFramehold, untilReadable } from '../rivals/framehold.ts';
import { pagePath, startQuestDbAt } from '../rivals/questdb.ts';
import { type LargeTrades, largeHandle } from './large-trades.ts';
import { randomPages } from './random-pages.ts';

/** Under load. */
export const largeConnections = 32;
const pageRows = 1000;
const pagesCompared = 20;

/** A server that holds the large trades. */
export interface Target {
  readonly name: string;
  readonly server: HttpServer;
  readonly path: (page: string) => string;
}

export const ourLargePath = (page: string): string => handlePath(largeHandle, page);

/** Other ones in every round. */
export function largePages(round: number, rows: number): string[] {
  return randomPages(round, 100_000, rows, pageRows);
}

export async function questdbOf(cleanup: Cleanup, { questdb }: LargeTrades): Promise<Target[]> {
  if (questdb === undefined) return [];
  const server = cleanup.use(await startQuestDbAt(questdb));
  return [{ name: 'questdb', server, path: (page) => pagePath(largeHandle, page) }];
}

export function questdbContender(lab: Lab, { name, server, path }: Target, rows: number): Contender {
  return loadContender({
    name,
    server: () => server,
    connections: largeConnections,
    paths: (round) => largePages(round, rows).map(path),
    until: { ms: lab.loadMs },
    value: requestsPerSecond,
    beforeRound: () => warmUp(server, largePages(-1, rows).map(path), largeConnections, lab.warmUpMs),
  });
}

/** Ready to be asked, and idle. */
export async function startLarge(options: FrameholdOptions): Promise<HttpServer> {
  const server = await startFramehold(options);
  try {
    await untilReadable(server, largeHandle);
    await untilQuiet(server.pid);
    return server;
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}

/** All of them give the same rows of some pages. */
export async function comparePages(targets: readonly Target[], rows: number): Promise<string> {
  for (const page of largePages(0, rows).slice(0, pagesCompared)) {
    const [first, ...others] = await Promise.all(
      targets.map(async ({ name, server, path }) => ({ name, table: await getExecTable(urlOf(server, path(page))) })),
    );
    if (first?.table.dataset.length !== pageRows) throw new Error(`${first?.name} did not answer ${pageRows} rows`);
    for (const { name, table } of others) assertSameRows(first.table, table, name);
  }
  return `${pagesCompared} pages of ${targets.length} servers`;
}

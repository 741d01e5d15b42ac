import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../test/support/free-port.ts';
import { questdbJar } from '../../test/support/questdb-jar.ts';
import { questdbUnavailable } from '../../test/support/questdb-unavailable.ts';
import { type ExecTable, getExecTable } from '../harness/exec-table.ts';
import { httpGetBody, urlOf } from '../harness/http-get.ts';
import { type HttpServer, ServerProcess } from '../harness/server-process.ts';
import { RivalUnavailable } from './unavailable.ts';

const startMs = 60_000;
const loadMs = 60_000;

/** Of `trades`, as `/imp` takes it. */
export const tradesSchema = [
  { name: 'timestamp', type: 'TIMESTAMP', pattern: 'yyyy-MM-ddTHH:mm:ss.SSSUUUZ' },
  { name: 'symbol', type: 'SYMBOL' },
  { name: 'side', type: 'SYMBOL' },
  { name: 'price', type: 'DOUBLE' },
  { name: 'amount', type: 'DOUBLE' },
  { name: 'id', type: 'LONG' },
];

/**
 * QuestDB, with a table `trades` where rows are given. Not the one of test/support: that starts quickly because it keeps
 * Java's optimising compiler off, and would lose every race. Here all is as QuestDB has it, but for the doors not used.
 */
export async function startQuestDb(folder: string, trades?: ExecTable): Promise<HttpServer> {
  const server = await startQuestDbAt(await mkdtemp(join(folder, 'questdb-')));
  try {
    if (trades !== undefined) await importTrades(urlOf(server, ''), trades);
    return server;
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}

/** With the tables that an earlier one left in this folder. */
export async function startQuestDbAt(root: string): Promise<HttpServer> {
  const reason = await questdbUnavailable();
  if (reason !== undefined) throw new RivalUnavailable(reason);
  const port = await freePort();
  await mkdir(join(root, 'conf'), { recursive: true });
  await writeFile(
    join(root, 'conf', 'server.conf'),
    [
      `http.bind.to=127.0.0.1:${port}`,
      'http.min.enabled=false',
      'pg.enabled=false',
      'line.tcp.enabled=false',
      'telemetry.enabled=false',
      '',
    ].join('\n'),
  );
  const args = ['-p', await questdbJar(), '-m', 'io.questdb/io.questdb.ServerMain', '-d', root];
  const server = new ServerProcess({ command: 'java', args, logPath: join(root, 'questdb.log') });
  try {
    const base = `http://127.0.0.1:${port}`;
    await server.until(() => httpGetBody(`${base}/exec?query=select%201`), startMs, 50);
    return { host: '127.0.0.1', port, pid: server.pid, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}

export function queryPath(sql: string, limit?: string): string {
  return `/exec?query=${encodeURIComponent(sql)}${limit === undefined ? '' : `&limit=${limit}`}`;
}

/**
 * Rows `from,to` of a table, counted from 1. In SQL, where it counts rows from 0: QuestDB's fastest way to a page, although it
 * compiles every request anew.
 */
export function pagePath(table: string, page: string): string {
  const [from, to] = page.split(',');
  return queryPath(`${table} limit ${Number(from) - 1},${to}`);
}

async function importTrades(base: string, { columns, dataset }: ExecTable): Promise<void> {
  const names = columns.map(({ name }) => name).join();
  if (names !== tradesSchema.map(({ name }) => name).join())
    throw new Error(`trades has other columns by now: ${names}`);
  const form = new FormData();
  form.append('schema', JSON.stringify(tradesSchema));
  form.append('data', new Blob([`${names}\n`, ...csvOf(dataset)]), 'trades.csv');
  const url = `${base}/imp?name=trades&fmt=json&timestamp=timestamp&partitionBy=DAY&atomicity=abort`;
  const response = await fetch(url, { method: 'POST', body: form });
  const answer = await response.text();
  if (!answer.includes('"status":"OK"')) throw new Error(`QuestDB did not import trades: ${answer}`);
  for (const start = Date.now(); Date.now() - start < loadMs; await delay(50)) {
    const counted = await getExecTable(`${base}${queryPath('select count() from trades')}`);
    if (counted.dataset[0]?.[0] === dataset.length) return;
  }
  throw new Error(`QuestDB did not show ${dataset.length} trades within ${loadMs / 1000} s`);
}

/** In pieces of many rows: a Blob of a million parts is slow. */
function* csvOf(rows: ExecTable['dataset']): Generator<string, void, void> {
  const step = 10_000;
  for (let at = 0; at < rows.length; at += step) {
    yield `${rows
      .slice(at, at + step)
      .map((row) => row.join())
      .join('\n')}\n`;
  }
}

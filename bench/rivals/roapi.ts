import { execFile } from 'node:child_process';
import { access, mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../test/support/free-port.ts';
import type { ExecTable } from '../harness/exec-table.ts';
import { httpGetBody } from '../harness/http-get.ts';
import { type GrpcServer, type HttpServer, ServerProcess } from '../harness/server-process.ts';
import { RivalUnavailable } from './unavailable.ts';

const run = promisify(execFile);

const version = '0.12.7';
const installMs = 300_000;
const startMs = 60_000;

/** ROAPI with tables from Parquet files, which it holds in memory: its default. */
export async function startRoapi(
  folder: string,
  tables: Readonly<Record<string, string>>,
): Promise<HttpServer & GrpcServer> {
  const binary = await installed();
  const port = await freePort();
  const flightSqlPort = await freePort();
  const doors = [
    ['--addr-http', `127.0.0.1:${port}`],
    ['--addr-flight-sql', `127.0.0.1:${flightSqlPort}`],
    // Not used, but it cannot be closed, and its usual port may be taken.
    ['--addr-postgres', `127.0.0.1:${await freePort()}`],
  ];
  const args = [...doors, ...Object.entries(tables).map(([name, path]) => ['--table', `${name}=${path}`])].flat();
  const server = new ServerProcess({ command: binary, args, logPath: join(folder, 'roapi.log') });
  try {
    for (const name of Object.keys(tables)) {
      await server.until(() => httpGetBody(`http://127.0.0.1:${port}${tablePath(1, name)}`), startMs, 50);
    }
    return {
      host: '127.0.0.1',
      port,
      grpcUri: `grpc://127.0.0.1:${flightSqlPort}`,
      pid: server.pid,
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}

export function tablePath(limit: number, table = 'trades'): string {
  return `/api/tables/${table}?limit=${limit}`;
}

/** Its answer, an array of objects, in the form of ours. It writes timestamps without zone and trailing zeros. */
export async function getRoapiTable(url: string): Promise<ExecTable> {
  const rows = JSON.parse((await httpGetBody(url)).toString('utf8')) as Record<string, unknown>[];
  const names = Object.keys(rows[0] ?? {});
  return {
    columns: names.map((name) => ({ name, type: '' })),
    dataset: rows.map((row) => names.map((name) => (name === 'timestamp' ? longTimestamp(row[name]) : row[name]))),
  };
}

function longTimestamp(value: unknown): string {
  const [seconds = '', fraction = ''] = String(value).split('.');
  return `${seconds}.${fraction.padEnd(6, '0')}Z`;
}

/** The path of the binary, which the package of PyPI brings; a virtual environment of our own keeps it apart. */
async function installed(): Promise<string> {
  const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'framehold', `roapi-${version}`);
  const binary = join(folder, 'bin', 'roapi');
  try {
    await access(binary);
    return binary;
  } catch {
    // Not installed yet.
  }
  try {
    await mkdir(folder, { recursive: true });
    await run('python3', ['-m', 'venv', folder], { timeout: installMs });
    await run(join(folder, 'bin', 'pip'), ['install', '-q', `roapi==${version}`], { timeout: installMs });
    await access(binary);
    return binary;
  } catch (error) {
    const [line = ''] = String(error instanceof Error ? error.message : error).split('\n');
    throw new RivalUnavailable(`ROAPI could not be installed with python3 and pip: ${line.slice(0, 200)}`);
  }
}

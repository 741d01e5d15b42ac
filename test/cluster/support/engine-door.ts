import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { placeTables, tpchTables } from '../../../bench/data/tpch-data.ts';
import { Cleanup } from '../../../src/core/async/cleanup.ts';
import { type Answer, ask } from '../../support/http-client.ts';
import { type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** Of POST /sql. */
export interface SqlRequest {
  readonly sql: string;
  readonly engine?: string;
  readonly [key: string]: unknown;
}

/** The JSON of an answer with rows, or with an error. */
export interface SqlAnswer {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly dataset: readonly (readonly unknown[])[];
  readonly count: number;
  readonly error: string;
  readonly code: string;
  readonly position?: number;
  readonly engine?: string;
}

/** The built server before an engine that is named `cluster`, as callers see it. */
export interface EngineDoor extends AsyncDisposable {
  readonly server: SpawnedFramehold;
  readonly dataDir: string;
  post(request: SqlRequest, options?: { readonly signal?: AbortSignal }): Promise<Answer>;
  /** Throws unless the answer is 200. */
  rows(request: SqlRequest): Promise<SqlAnswer>;
  /** GET /exec. */
  exec(parameters: Readonly<Record<string, string>>): Promise<SqlAnswer>;
}

export interface DoorOptions {
  /** `sc://…`; without one there is no other engine than `local`. */
  readonly engineUrl?: string;
  /** A folder with tables of TPC-H that become frames. */
  readonly tables?: string;
  /** The last part of the data directory's path. Default: any. */
  readonly folder?: string;
  /** Of the server, besides what it needs. */
  readonly env?: Readonly<Record<string, string>>;
}

export async function openEngineDoor({ engineUrl, tables, folder = '', env = {} }: DoorOptions): Promise<EngineDoor> {
  const cleanup = new Cleanup();
  try {
    const dataDir = join(cleanup.use(await temporaryDirectory()).path, folder);
    const config = join(dataDir, 'framehold.toml');
    await mkdir(dataDir, { recursive: true });
    if (tables !== undefined) await placeTables(tables, tpchTables, dataDir);
    await writeFile(
      config,
      engineUrl === undefined ? '' : `[engines.cluster]\nkind = "spark-connect"\nurl = "${engineUrl}"\n`,
    );
    const server = cleanup.use(
      await spawnFramehold({
        dataDir,
        env,
        flags: [`--config=${config}`, '--sql-timeout=2m', '--compression-level=4'],
      }),
    );
    const post: EngineDoor['post'] = (request, options) =>
      ask(`${server.url}/sql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(request),
        ...options,
      });
    return {
      server,
      dataDir,
      post,
      async rows(request) {
        const answer = await post(request);
        if (answer.status !== 200) throw new Error(`${request.sql}\nanswers ${answer.status}: ${answer.text}`);
        return answer.json() as unknown as SqlAnswer;
      },
      async exec(parameters) {
        return (await ask(`${server.url}/exec?${new URLSearchParams(parameters)}`)).json() as unknown as SqlAnswer;
      },
      [Symbol.asyncDispose]: () => cleanup[Symbol.asyncDispose](),
    };
  } catch (error) {
    await cleanup[Symbol.asyncDispose]();
    throw error;
  }
}

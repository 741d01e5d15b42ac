import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { type ConfigSources, type LoadedConfig, loadConfig } from '../../src/config/load-config.ts';
import { settingRows } from '../../src/config/setting-rows.ts';
import { SettingsReload } from '../../src/config/settings-reload.ts';
import { Cleanup } from '../../src/core/async/cleanup.ts';
import type { FrameStore } from '../../src/frames/store.ts';
import type { CreateClusterEngine } from '../../src/server/engines.ts';
import { startServer } from '../../src/server/start-server.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { assertNoSecretFiles, assertNoSecrets } from './secrets.ts';
import { temporaryDirectory } from './temporary-directory.ts';

export interface FrameholdOptions {
  /** By their names in the TOML file, e.g. `http.max_limit`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** A directory that outlives the server; without one it has its own, removed with it. */
  readonly dataDir?: string;
  /** A config file, for settings without flags. */
  readonly toml?: string;
  readonly createClusterEngine?: CreateClusterEngine;
  /** Default false: most tests need fewer processes than a server has ready, and hundreds of tests start a server. */
  readonly startsWorkers?: boolean;
}

export interface Framehold extends AsyncDisposable {
  /** `http://127.0.0.1:port`, or https. */
  readonly url: string;
  readonly grpcAddress: { readonly host: string; readonly port: number };
  readonly frames: FrameStore;
  /** As SIGHUP does but for the log, with another config file if one is given. Resolves when it is done. */
  reload(toml?: string): Promise<void>;
  readonly dataDir: string;
  /** Everything that was logged so far. */
  log(): string;
}

/** The operator's database, empty as a server of this process made it: another server would start a process to make its own. */
let emptyDatabase: Buffer | undefined;
const emptyDatabaseBytes = 12_288;

/** The whole server in this process, on ports of the system's choice. */
export async function startFramehold(options: FrameholdOptions = {}): Promise<Framehold> {
  const cleanup = new Cleanup();
  const isFresh = options.dataDir === undefined;
  const dataDir = options.dataDir ?? cleanup.use(await temporaryDirectory()).path;
  const database = join(dataDir, 'analytics.duckdb');
  if (isFresh && emptyDatabase !== undefined) await writeFile(database, emptyDatabase);
  const settings = {
    'storage.data_dir': dataDir,
    'http.bind_address': '127.0.0.1:0',
    'server.grpc_host': '127.0.0.1',
    'server.grpc_port': '0',
    'server.shutdown_grace': '2s',
    'logging.level': 'debug',
    // From 4 on files are compressed again in the background, which for most tests is nothing but work.
    ...(options.settings?.['compression.algorithm'] === undefined && { 'compression.level': '1' }),
    ...options.settings,
  };
  let { toml } = options;
  const sources: ConfigSources = {
    argv: Object.entries(settings).map(([key, value]) => `${flagOf(key)}=${value}`),
    env: {},
    homeDir: dataDir,
    cwd: dataDir,
    coreCount: 2,
    stderrIsTerminal: false,
    readFile: (path) => (path.endsWith('.framehold/config.toml') ? toml : undefined),
  };
  const load = (): LoadedConfig => loadConfig(sources);
  const loaded = load();
  const { config } = loaded;
  const stream = new PassThrough();
  let log = '';
  stream.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const logger = createLogger({ stream, filter: config.logging.filter, format: 'json' });
  const reload = new SettingsReload(loaded, load, logger);
  const server = cleanup.use(
    await startServer(config, logger, {
      createEngine: options.createClusterEngine,
      shown: () => reload.shown,
      startsWorkers: options.startsWorkers ?? false,
    }),
  );
  return {
    url: `${config.tls.certFile === undefined ? 'http' : 'https'}://127.0.0.1:${server.httpAddress.port}`,
    grpcAddress: server.grpcAddress,
    frames: server.frames,
    reload: (changed) => {
      toml = changed ?? toml;
      return reload.run(server);
    },
    dataDir,
    log: () => log,
    async [Symbol.asyncDispose]() {
      // For every test that starts a server: in no case may a secret be anywhere.
      assertNoSecrets('the log', log);
      assertNoSecretFiles(join(dataDir, 'cold'));
      if (isFresh && emptyDatabase === undefined) {
        const bytes = await readFile(database).catch(() => undefined);
        if (bytes?.length === emptyDatabaseBytes) emptyDatabase = bytes;
      }
      await cleanup[Symbol.asyncDispose]();
    },
  };
}

function flagOf(key: string): string {
  const row = settingRows.find((candidate) => candidate.key === key);
  if (row === undefined) throw new Error(`there is no setting ${key}`);
  return row.flag;
}

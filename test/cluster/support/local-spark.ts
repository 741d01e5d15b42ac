import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Cleanup } from '../../../src/core/async/cleanup.ts';
import { freePort } from '../../support/free-port.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { clusterVenv, needJava } from './cluster-venv.ts';
import { EngineProcess } from './engine-process.ts';
import { rawSql } from './raw-sql.ts';
import { frugal } from './spark-cluster.ts';

/** A Spark in one process, which asks for a token. */
export interface LocalSpark extends AsyncDisposable {
  /** `sc://127.0.0.1:port/;token=…` */
  readonly url: string;
  /** Unchecked SQL. */
  raw(sql: string): Promise<Buffer>;
}

export interface LocalSparkOptions {
  readonly token: string;
  /** Of its process, besides what it needs. */
  readonly env?: Readonly<Record<string, string>>;
}

const startMs = 120_000;

/** Resolves when it answers. Throws Missing. */
export async function startLocalSpark({ token, env = {} }: LocalSparkOptions): Promise<LocalSpark> {
  await needJava();
  const { sparkHome } = await clusterVenv();
  const cleanup = new Cleanup();
  try {
    const folder = cleanup.use(await temporaryDirectory()).path;
    await mkdir(join(folder, 'conf'));
    const port = await freePort();
    const settings = {
      'spark.connect.grpc.binding.address': '127.0.0.1',
      'spark.connect.grpc.binding.port': String(port),
      'spark.ui.enabled': 'false',
      'spark.sql.shuffle.partitions': '2',
      'spark.sql.warehouse.dir': join(folder, 'warehouse'),
    };
    const server = cleanup.use(
      await EngineProcess.start({
        command: join(sparkHome, 'bin', 'spark-submit'),
        args: [
          ...['--class', 'org.apache.spark.sql.connect.service.SparkConnectServer', '--master', 'local[2]'],
          ...['--driver-memory', '1500m', '--driver-java-options', frugal],
          ...Object.entries(settings).flatMap(([key, value]) => ['--conf', `${key}=${value}`]),
        ],
        env: {
          SPARK_HOME: sparkHome,
          SPARK_CONF_DIR: join(folder, 'conf'),
          SPARK_LOCAL_DIRS: folder,
          SPARK_LOCAL_IP: '127.0.0.1',
          SPARK_LAUNCHER_OPTS: frugal,
          SPARK_CONNECT_AUTHENTICATE_TOKEN: token,
          ...env,
        },
        log: join(folder, 'connect.log'),
      }),
    );
    await server.untilListening(port, startMs);
    const url = `sc://127.0.0.1:${port}`;
    return {
      url: `${url}/;token=${token}`,
      raw: (sql) => rawSql(url, sql, { token }),
      [Symbol.asyncDispose]: () => cleanup[Symbol.asyncDispose](),
    };
  } catch (error) {
    await cleanup[Symbol.asyncDispose]();
    throw error;
  }
}

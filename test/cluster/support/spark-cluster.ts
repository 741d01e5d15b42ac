import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Cleanup } from '../../../src/core/async/cleanup.ts';
import { freePort } from '../../support/free-port.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { clusterVenv, needJava } from './cluster-venv.ts';
import { EngineProcess } from './engine-process.ts';
import { rawSql } from './raw-sql.ts';
import { type SparkExecutor, type SparkJob, SparkUi } from './spark-ui.ts';

export interface SparkWorker {
  /** SIGKILL to it and to its executor, as when its machine goes away. */
  kill(): Promise<void>;
}

/** Master, two workers of one core, and a Connect server: six processes, about 3 GB. */
export interface SparkCluster extends AsyncDisposable {
  /** `sc://127.0.0.1:port`, the same after a restart. */
  readonly url: string;
  readonly uiUrl: string;
  readonly workers: readonly [SparkWorker, SparkWorker];
  /** Those of the application that runs now, newest first. */
  jobs(): Promise<readonly SparkJob[]>;
  /** Of the workers, without the driver. */
  executors(): Promise<readonly SparkExecutor[]>;
  /** SIGKILL. */
  killConnectServer(): Promise<void>;
  /** Starts it again, ending it first if it runs. Resolves when it answers and has an executor of each worker that runs. */
  restartConnectServer(): Promise<void>;
}

const startMs = 200_000;
const executorMs = 120_000;

// For a JVM that lives for minutes on a core that it shares, the optimising compiler takes more time than it gives.
export const frugal = '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC';

/** A test sends most statements once: to compile one, there and in each executor, takes longer than to interpret it. */
const unmeasured = {
  'spark.sql.codegen.wholeStage': 'false',
  'spark.sql.codegen.factoryMode': 'NO_CODEGEN',
  'spark.log.level': 'WARN',
} as const;

export interface SparkClusterOptions {
  /** Lets Java optimise all that it can, for who measures. Default false. */
  readonly isMeasured?: boolean;
  /** Paths of jars that it loads, separated by commas. Default: none. */
  readonly jars?: string | undefined;
}

/** Resolves when a first query has run on both executors. Throws Missing. */
export async function startSparkCluster({ isMeasured = false, jars }: SparkClusterOptions = {}): Promise<SparkCluster> {
  const javaOptions = isMeasured ? '-XX:+UseParallelGC' : frugal;
  await needJava();
  const { sparkHome } = await clusterVenv();
  const cleanup = new Cleanup();
  try {
    const folder = cleanup.use(await temporaryDirectory()).path;
    await mkdir(join(folder, 'conf'));
    const env = {
      SPARK_HOME: sparkHome,
      SPARK_CONF_DIR: join(folder, 'conf'),
      SPARK_LOCAL_DIRS: folder,
      SPARK_LOCAL_IP: '127.0.0.1',
      // Of the program that puts the command together.
      SPARK_LAUNCHER_OPTS: frugal,
    };
    const daemon = (name: string, args: readonly string[]): Promise<EngineProcess> =>
      EngineProcess.start({
        command: join(sparkHome, 'bin', 'spark-class'),
        args: [`org.apache.spark.deploy.${name.toLowerCase()}.${name}`, '--host', '127.0.0.1', ...args],
        // Not for the Connect server, which takes them for its own.
        env: { ...env, SPARK_DAEMON_MEMORY: '256m', SPARK_DAEMON_JAVA_OPTS: frugal },
        log: join(folder, `${name}.log`),
      });

    const [masterPort, connectPort, uiPort] = [await freePort(), await freePort(), await freePort()];
    const masterUrl = `spark://127.0.0.1:${masterPort}`;
    const uiUrl = `http://127.0.0.1:${uiPort}`;
    const url = `sc://127.0.0.1:${connectPort}`;
    const ui = new SparkUi(uiUrl);

    const master = cleanup.use(await daemon('Master', ['--port', String(masterPort), '--webui-port', '0']));
    await master.untilListening(masterPort, startMs);

    const startWorker = (name: string): Promise<EngineProcess> =>
      daemon('Worker', [
        ...['--cores', '1', '--memory', '2g', '--webui-port', '0', '--work-dir', join(folder, name)],
        masterUrl,
      ]);
    const startConnectServer = (): Promise<EngineProcess> =>
      EngineProcess.start({
        command: join(sparkHome, 'bin', 'spark-submit'),
        args: [
          ...['--class', 'org.apache.spark.sql.connect.service.SparkConnectServer', '--master', masterUrl],
          ...['--driver-memory', '1500m', '--driver-java-options', javaOptions],
          ...Object.entries({
            ...connectServerSettings(folder, connectPort, uiPort, javaOptions),
            ...(isMeasured ? {} : unmeasured),
          }).flatMap(([key, value]) => ['--conf', `${key}=${value}`]),
          ...(jars === undefined ? [] : ['--jars', jars]),
        ],
        env,
        log: join(folder, 'connect.log'),
      });
    const untilExecutors = (server: EngineProcess, count: number, withinMs: number): Promise<true> =>
      server.until(`there were ${count} executors`, withinMs, async () => {
        const executors = await ui.executors();
        return executors.filter(({ isActive }) => isActive).length >= count ? true : undefined;
      });
    const workerProcesses = [cleanup.use(await startWorker('w1')), cleanup.use(await startWorker('w2'))];
    const untilReady = async (server: EngineProcess): Promise<void> => {
      await server.untilListening(connectPort, startMs);
      await untilExecutors(server, workerProcesses.filter(({ hasEnded }) => !hasEnded).length, executorMs);
      // The first query of a session takes seconds; and each executor must have loaded what tasks need.
      await rawSql(url, 'SELECT id % 7 AS k, count(*) FROM range(0, 10000, 1, 8) GROUP BY 1 ORDER BY 1');
    };

    let connectServer = await startConnectServer();
    cleanup.defer(() => connectServer[Symbol.asyncDispose]());
    await untilReady(connectServer);

    const workerAt = (at: number): SparkWorker => ({
      kill: async () => workerProcesses[at]?.[Symbol.asyncDispose](),
    });
    return {
      url,
      uiUrl,
      workers: [workerAt(0), workerAt(1)],
      jobs: () => ui.jobs(),
      executors: () => ui.executors(),
      killConnectServer: () => connectServer[Symbol.asyncDispose](),
      async restartConnectServer() {
        await connectServer[Symbol.asyncDispose]();
        connectServer = await startConnectServer();
        await untilReady(connectServer);
      },
      [Symbol.asyncDispose]: () => cleanup[Symbol.asyncDispose](),
    };
  } catch (error) {
    await cleanup[Symbol.asyncDispose]();
    throw error;
  }
}

function connectServerSettings(
  folder: string,
  connectPort: number,
  uiPort: number,
  javaOptions: string,
): Record<string, string> {
  return {
    'spark.connect.grpc.binding.address': '127.0.0.1',
    'spark.connect.grpc.binding.port': String(connectPort),
    'spark.ui.port': String(uiPort),
    'spark.executor.cores': '1',
    'spark.executor.memory': '1g',
    'spark.executor.extraJavaOptions': javaOptions,
    'spark.cores.max': '2',
    // A result is collected a partition at a time: with large ones the driver runs out of memory before it can refuse.
    'spark.driver.maxResultSize': '512m',
    'spark.sql.files.maxPartitionBytes': '16m',
    'spark.sql.shuffle.partitions': '4',
    'spark.sql.warehouse.dir': join(folder, 'warehouse'),
  };
}

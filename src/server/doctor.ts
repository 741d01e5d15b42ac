import { access, constants } from 'node:fs/promises';
import { release, tmpdir } from 'node:os';
import { dirname, resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import { LinkedAbort } from '../core/async/linked-abort.ts';
import { mostOfAll } from '../core/callers/connection-limit.ts';
import { AppError } from '../core/errors/app-error.ts';
import { errnoOf } from '../core/errors/storage-error.ts';
import { silentLogger } from '../core/logs/logger.ts';
import { nodeRange } from '../core/system/version.ts';
import { certificateFacts, judgeCertificate } from '../doctor/certificate.ts';
import { type ClockFacts, isClockSynchronised, judgeClock } from '../doctor/clock.ts';
import { judgeColdDirectory, judgeDataDirectory, judgeWrites } from '../doctor/directories.ts';
import { probeDirectory } from '../doctor/directory-probe.ts';
import { type EngineProcessFacts, judgeEngineProcess, judgeKernel } from '../doctor/engine-process.ts';
import { type Finding, notOk, ok } from '../doctor/finding.ts';
import { judgeListener, type Listener, tryListeners } from '../doctor/listeners.ts';
import { judgeNode, nodeFacts } from '../doctor/node-runtime.ts';
import { judgePermissions, permissionFacts } from '../doctor/permissions.ts';
import { judgeResources, type ResourceNeeds, resourceFacts } from '../doctor/resources.ts';
import { checkAnalyticsPath } from '../engines/duckdb/analytics-database.ts';
import { tryWorker } from '../engines/duckdb/try-worker.ts';
import { readKnownFormat } from '../frames/upkeep/directory-format.ts';
import { examineServices } from './doctor-services.ts';

interface Options {
  readonly signal: AbortSignal;
}

const workerTimeoutMs = 8000;
/** Enough for one statement. */
const spillBytes = 1_000_000;

/** Every check of this machine for a server with these settings. Its files are removed, also if the signal aborts. */
export async function examineMachine(config: Config, options: Options): Promise<readonly Finding[]> {
  // First and alone: beside other work the disk would look slower than it is.
  const { findings, aheadMs } = await examineDirectories(config, options);
  options.signal.throwIfAborted();
  const [services, isSynchronised, ...others] = await allEnded([
    examineServices(config, options),
    isClockSynchronised(),
    examineProcess(config, options),
    examineFiles(config),
    examineListeners(config, options),
    examineResources(config),
  ]);
  options.signal.throwIfAborted();
  const files: ClockFacts['others'] = aheadMs === undefined ? [] : [{ name: 'the file system', aheadMs }];
  const clock = judgeClock({ nowMs: Date.now(), isSynchronised, others: [...files, ...services.clocks] });
  return [judgeNode(nodeFacts(nodeRange)), ...findings, clock, ...services.findings, ...others.flat()];
}

/** Also if one of them fails, so that the others have removed their files. */
async function allEnded<const T extends readonly Promise<unknown>[]>(work: T) {
  await Promise.allSettled(work);
  return await Promise.all(work);
}

async function examineDirectories({ storage }: Config, { signal }: Options) {
  const user = process.getuid === undefined ? 'of the server' : `number ${process.getuid()}`;
  const { cacheSizeBytes, diskCacheBytes } = storage;
  const cacheBytes = cacheSizeBytes === 0 ? 0 : cacheSizeBytes + (diskCacheBytes ?? 0);
  const [data, cold] = await allEnded([
    probeDirectory(resolve(storage.dataDir), { signal, isTimed: false }),
    probeDirectory(resolve(storage.parquetPath), { signal, isTimed: true }),
  ]);
  const writes = judgeWrites(cold);
  const findings = [
    judgeDataDirectory(data, { setting: 'storage.data_dir', cacheBytes, user }),
    judgeColdDirectory(cold, { setting: 'storage.parquet_path', cacheBytes: 0, user }),
    ...(writes === undefined ? [] : [writes]),
  ];
  return { findings, aheadMs: cold.writeProblem === undefined ? cold.aheadMs : undefined };
}

async function examineProcess({ auth, sql }: Config, { signal }: Options): Promise<Finding[]> {
  const settings = {
    threads: sql.threads,
    writeThreads: sql.threads,
    memoryBytes: sql.memoryBytes,
    tempDirectory: tmpdir(),
    maxTempBytes: spillBytes,
    lowPriority: false,
  };
  using limit = new LinkedAbort([signal], workerTimeoutMs);
  const facts: EngineProcessFacts & { readonly isConfined?: boolean } = await tryWorker(settings, silentLogger, {
    signal: limit.signal,
  }).then(
    (tried) => ({ state: 'works', ...tried }),
    (error: unknown) => ({
      state: 'fails',
      problem: limit.isLate ? `no DuckDB process answered in ${workerTimeoutMs / 1000} s` : processProblem(error),
    }),
  );
  const kernel = { platform: process.platform, release: release(), isConfined: facts.isConfined };
  return [judgeEngineProcess(facts), judgeKernel({ ...kernel, hasTenants: auth.enabled })];
}

/** The line with the reason, from the output of a process before its end. */
function processProblem(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const line = /^(?:\w*Error): (.+)$/m.exec(text)?.[1] ?? text.split('\n')[0] ?? '';
  return `no DuckDB process starts: ${line}`;
}

async function examineFiles({ storage, audit, tls }: Config): Promise<Finding[]> {
  const { certFile, keyFile } = tls;
  const hasTls = certFile !== undefined && keyFile !== undefined;
  return Promise.all([
    checkAnalyticsPath(storage.duckdbPath).then(
      () => ok('analytics', storage.duckdbPath),
      (error: Error) => notOk('fail', 'analytics', error.message, 'the server does not start'),
    ),
    examineFormat(resolve(storage.parquetPath)),
    permissionFacts(storage).then(judgePermissions),
    ...(audit.file === undefined ? [] : [examineAudit(audit.file)]),
    ...(hasTls ? [certificateFacts({ ...tls, certFile, keyFile }).then(judgeCertificate)] : []),
  ]);
}

async function examineFormat(coldDirectory: string): Promise<Finding> {
  try {
    const { format, writtenBy } = await readKnownFormat(coldDirectory);
    return ok('format', format === 0 ? 'that of 0.1.0, or a new directory' : `${format}, written by ${writtenBy}`);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return notOk('fail', 'format', error.message, 'the server does not start', error.hint);
  }
}

/** Without a trace: the server makes the file. */
async function examineAudit(path: string): Promise<Finding> {
  try {
    await access(path, constants.W_OK).catch((error: unknown) => {
      if (errnoOf(error) !== 'ENOENT') throw error;
      return access(dirname(resolve(path)), constants.W_OK);
    });
    return ok('audit', `${path} can be written`);
  } catch (error) {
    const remedy = 'give audit.file a path in a directory that the server may write to';
    return notOk('fail', 'audit', `${path} cannot be written (${errnoOf(error)})`, 'the server does not start', remedy);
  }
}

async function examineListeners({ http, server, metrics }: Config, options: Options): Promise<Finding[]> {
  const listeners: Listener[] = [
    { name: 'http', address: http.bindAddress, setting: '--http-bind-address' },
    { name: 'grpc', address: { host: server.grpcHost, port: server.grpcPort }, setting: '--grpc-host, --grpc-port' },
  ];
  if (server.healthAddress !== undefined)
    listeners.push({ name: 'health', address: server.healthAddress, setting: '--health-address' });
  if (metrics.bindAddress !== undefined)
    listeners.push({ name: 'metrics', address: metrics.bindAddress, setting: '--metrics-bind-address' });
  return (await tryListeners(listeners, options)).map(judgeListener);
}

async function examineResources({ sql, storage, http, server, tsdb }: Config): Promise<Finding[]> {
  const upstream = tsdb.httpUrl === undefined ? 0 : tsdb.maxConnections;
  const needs: ResourceNeeds = {
    workers: sql.workers,
    threads: sql.threads,
    memoryBytes: sql.memoryBytes,
    cacheBytes: storage.cacheSizeBytes,
    connections: mostOfAll(http.maxConnections) + mostOfAll(server.maxConnections) + upstream,
  };
  return judgeResources(await resourceFacts(), needs);
}

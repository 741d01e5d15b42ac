import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { AccessRecords } from '../auth/access-records.ts';
import { openTenantRegistry, type TenantRegistry } from '../auth/tenant-registry.ts';
import { openTokenRegistry, type TokenRegistry } from '../auth/token-registry.ts';
import { ByteCache } from '../cache/byte-cache.ts';
import { removeDamagedChunks } from '../cache/damaged-chunks.ts';
import { DiskCache } from '../cache/disk-cache.ts';
import type { Config } from '../config/config.ts';
import type { Cleanup } from '../core/async/cleanup.ts';
import { errnoOf } from '../core/errors/storage-error.ts';
import type { Logger } from '../core/logs/logger.ts';
import { judgePermissions, permissionFacts } from '../doctor/permissions.ts';
import { checkAnalyticsPath } from '../engines/duckdb/analytics-database.ts';
import { sweepSpill } from '../engines/duckdb/pool/spill-directory.ts';
import { type BackupReport, type BackupRequest, backupDirectory } from '../frames/backup/backup-directory.ts';
import { assertNoCutOffRestore } from '../frames/backup/cut-off-restore.ts';
import { type RestoreReport, restoreBackup } from '../frames/backup/restore-backup.ts';
import { DurableFiles } from '../frames/disk/durable-file.ts';
import { type FrameStore, openFrameStore } from '../frames/store.ts';
import { type Repaired, refuseBesideProcesses, repairDirectory } from '../frames/upkeep/repair-directory.ts';
import { assertReadableFormat, upgradeDirectory } from '../frames/upkeep/upgrade-directory.ts';
import { type DefinitionFault, type FrameVerdict, verifyDirectory } from '../frames/upkeep/verify-directory.ts';
import { WriteProbe } from '../frames/upkeep/write-probe.ts';
import type { ServerTimings } from '../telemetry/server-timings.ts';
import { type FramePools, openVerifyPool } from './duckdb-pools.ts';

/** Checked before anything is opened: a path that cannot be used stops the start. */
export async function prepareStorage({ storage }: Config, logger: Logger): Promise<void> {
  await makeDataDirectory(storage.dataDir);
  const { level, found, meaning, remedy } = judgePermissions(await permissionFacts(storage));
  if (level !== 'ok') logger.warn(`${found}: ${meaning}; ${remedy}`);
  await assertNoCutOffRestore(resolve(storage.parquetPath));
  await checkAnalyticsPath(storage.duckdbPath);
  await upgradeDirectory(resolve(storage.parquetPath), logger.area('frames'));
}

export async function openFrames(
  config: Config,
  { foreground, background }: FramePools,
  records: AccessRecords | undefined,
  timings: Pick<ServerTimings, 'puts' | 'disk'>,
  cleanup: Cleanup,
  logger: Logger,
): Promise<FrameStore> {
  const { storage, compression, frames } = config;
  const diskCache = await openDiskCache(config, logger);
  cleanup.defer(() => diskCache?.[Symbol.asyncDispose]());
  const store = await openFrameStore({
    coldDirectory: storage.parquetPath,
    engine: foreground,
    backgroundEngine: background,
    cache: new ByteCache(storage.cacheSizeBytes),
    diskCache,
    compression,
    defaultTtlMs: frames.defaultTtlMs,
    tombstoneTtlMs: frames.tombstoneTtlMs,
    scrub:
      frames.scrubIntervalMs === 0
        ? undefined
        : { intervalMs: frames.scrubIntervalMs, isBusy: () => foreground.figures.waiting > 0 },
    limitsOf: records && ((tenant) => records.limitsOf(tenant)),
    onRemoved: records && ((tenant, handle) => records.shares.removeOfFrame(tenant, handle)),
    putTimings: timings.puts,
    diskTimings: timings.disk,
    logger: logger.area('frames'),
  });
  return cleanup.use(store);
}

/** Knows whether frames can be written. */
export async function openWriteProbe(store: FrameStore, cleanup: Cleanup, logger: Logger): Promise<WriteProbe> {
  const probe = await WriteProbe.start(() => store.tryWrite(), logger.area('frames'));
  cleanup.defer(async () => probe[Symbol.dispose]());
  return probe;
}

async function openDiskCache({ storage }: Config, logger: Logger): Promise<DiskCache | undefined> {
  const { cacheSizeBytes, diskCacheBytes, dataDir } = storage;
  if (cacheSizeBytes === 0 || diskCacheBytes === 0) return undefined;
  return DiskCache.open({ folder: join(dataDir, 'cache'), budgetBytes: diskCacheBytes, logger: logger.area('cache') });
}

/** The tokens of the configured directory, for commands that work without a server. */
export async function openTokens({ storage }: Config): Promise<TokenRegistry> {
  await assertReadableFormat(resolve(storage.parquetPath));
  return openTokenRegistry(resolve(storage.parquetPath));
}

/** Its tenants, likewise. */
export async function openTenants({ storage }: Config): Promise<TenantRegistry> {
  await assertReadableFormat(resolve(storage.parquetPath));
  return openTenantRegistry(resolve(storage.parquetPath));
}

/** Checks all frames of the configured directory, each on demand. */
export async function* verifyFrames(
  config: Config,
  logger: Logger,
  options: { readonly signal: AbortSignal },
): AsyncGenerator<FrameVerdict | DefinitionFault, void, undefined> {
  await assertReadableFormat(resolve(config.storage.parquetPath));
  await using engine = openVerifyPool(config, logger);
  yield* verifyDirectory(config.storage.parquetPath, engine, options);
}

/** Removes damaged or left-over files that can be made again. No server runs on the directory then. */
export async function repairStorage(
  config: Config,
  logger: Logger,
  options: { readonly signal: AbortSignal },
): Promise<Repaired & { readonly cacheBlocks: number }> {
  const { parquetPath, dataDir } = config.storage;
  const coldDirectory = resolve(parquetPath);
  await refuseBesideProcesses(coldDirectory);
  await upgradeDirectory(coldDirectory, logger.area('frames'));
  let swept = 0;
  for (const folder of ['spill', 'warm', 'live']) swept += await sweepSpill(join(dataDir, folder));
  const cacheBlocks = await removeDamagedChunks(join(dataDir, 'cache'), options);
  await using engine = openVerifyPool(config, logger);
  const repaired = await repairDirectory(coldDirectory, { ...options, engine, logger });
  return { ...repaired, leftovers: repaired.leftovers + swept, cacheBlocks };
}

/** A backup of the configured directory, beside its servers or without any. */
export function backupStorage(
  { storage }: Config,
  logger: Logger,
  options: Pick<BackupRequest, 'destination' | 'keep' | 'signal'>,
): Promise<BackupReport> {
  return backupDirectory({
    ...options,
    coldDirectory: resolve(storage.parquetPath),
    analyticsPath: resolve(storage.duckdbPath),
    dataDirectory: resolve(storage.dataDir),
    logger: logger.area('frames'),
  });
}

/** Restores the configured directory from a backup. */
export function restoreStorage(
  { storage }: Config,
  options: { readonly source: string; readonly signal: AbortSignal },
): Promise<RestoreReport> {
  return restoreBackup({
    ...options,
    coldDirectory: resolve(storage.parquetPath),
    analyticsPath: resolve(storage.duckdbPath),
  });
}

async function makeDataDirectory(path: string): Promise<void> {
  try {
    await new DurableFiles().makeFolder(resolve(path));
  } catch (error) {
    const code = errnoOf(error);
    const isThere = (await stat(path).catch(() => undefined))?.isDirectory() === true;
    // An existing read-only directory still serves its frames.
    if (!isThere) throw new Error(`the data directory ${path} cannot be made (${code}); name another with --data-dir`);
  }
}

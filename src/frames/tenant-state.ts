import { AppError } from '../core/app-error.ts';
import type { Compression, FrameEngine } from '../core/frame-engine.ts';
import type { Handle } from '../core/handle.ts';
import type { Logger } from '../core/logger.ts';
import type { Tenant } from '../core/principal.ts';
import { isPassing } from './adoption.ts';
import { Catalog, type Entry } from './catalog.ts';
import { Commits } from './commit.ts';
import type { DurableFiles } from './durable-file.ts';
import { FrameVersion } from './frame-version.ts';
import { HandleLocks } from './handle-lock.ts';
import type { HotTier } from './hot-tier.ts';
import type { Manifest } from './manifest.ts';
import type { Part } from './part.ts';
import { PartCheck } from './part-check.ts';
import { type HeldPart, Pins } from './pins.ts';
import { RecordFiles } from './records.ts';
import { TenantDirectory } from './tenant-directory.ts';
import type { Turns } from './turns.ts';

/** What all tenants of a store share. */
export interface StoreContext {
  readonly coldDirectory: string;
  readonly engine: FrameEngine;
  readonly backgroundEngine: FrameEngine;
  readonly compression: Compression;
  readonly defaultTtlMs: number | null;
  readonly tombstoneTtlMs: number;
  readonly hot: HotTier;
  readonly durable: DurableFiles;
  readonly adoptionTurns: Turns;
  readonly logger: Logger;
  readonly now: () => number;
  /** Aborts when the store closes. */
  readonly signal: AbortSignal;
  /** A frame has parts that are not compressed as configured yet. */
  readonly wantsRecompression: (tenant: Tenant, handle: Handle) => void;
}

/** One tenant's frames in memory and on disk: what the use cases work with. */
export class TenantState {
  readonly context: StoreContext;
  readonly directory: TenantDirectory;
  readonly records: RecordFiles;
  readonly commits: Commits;
  readonly pins: Pins;
  readonly catalog = new Catalog();
  readonly locks = new HandleLocks();
  /** Everything on the disk is in the catalog. */
  isLoaded = false;

  constructor(context: StoreContext, tenant: Tenant) {
    this.context = context;
    this.directory = new TenantDirectory(context.coldDirectory, tenant, context.durable);
    this.records = new RecordFiles(this.directory, context.durable);
    this.commits = new Commits(this.directory, this.records, context.durable, context.logger);
    this.pins = new Pins(this.directory, (part, path) => isAsWritten(context, part, path));
  }

  /** Makes this the current version; those who read the one before go on with it. */
  async hold(manifest: Manifest, parts: readonly HeldPart[]): Promise<FrameVersion> {
    const version = new FrameVersion(manifest, this.pins.set(parts), this.context.now());
    await this.turn(manifest.handle, { kind: 'held', version });
    if (manifest.parts.some((part) => !part.final)) {
      this.context.wantsRecompression(this.directory.tenant, manifest.handle);
    }
    return version;
  }

  /** Puts an entry in the place of the one before. */
  async turn(handle: Handle, entry: Entry | undefined): Promise<void> {
    const before = this.catalog.get(handle);
    if (entry === undefined) this.catalog.delete(handle);
    else this.catalog.set(handle, entry);
    if (before?.kind !== 'held') return;
    before.version.isRetired = true;
    this.context.hot.deleteVersion(before.version.versionId);
    await before.version.parts.retire();
  }
}

async function isAsWritten({ engine, signal }: StoreContext, { sha256 }: Part, path: string): Promise<boolean> {
  try {
    return (await engine.sha256(path, { signal, lane: 'verification' })) === sha256;
  } catch (error) {
    if (signal.aborted || isPassing(error) || !(error instanceof AppError)) throw error;
    return false;
  }
}

/** Parts of a manifest that was found on disk: what we wrote is yet to be verified, what we did not cannot be. */
export function partsFound(manifest: Manifest): HeldPart[] {
  return manifest.parts.map((part) => ({ ...part, check: new PartCheck(part) }));
}

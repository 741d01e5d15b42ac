import { AppError, isTransient } from '../../core/errors/app-error.ts';
import type { Handle } from '../../core/names/handle.ts';
import type { FrameEngine } from '../../core/rows/frame-engine.ts';
import { frameDamaged } from '../catalog/frame-errors.ts';
import type { FrameVersion } from '../catalog/frame-version.ts';
import type { TenantState } from '../catalog/tenant-state.ts';
import { type Part, sameIdentity } from '../disk/part.ts';
import { hasPartChecksum } from '../disk/part-checksum.ts';
import { FileChanged, type HeldPart } from '../disk/part-links.ts';

export const differs = 'its bytes are not those that were written (checksum)';
export const unreadable = 'it is not readable';

/** Checks that our own files are unchanged. Parquet readers do not: most flipped bits give wrong rows, not errors. */
export class Verification {
  readonly #state: TenantState;
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(state: TenantState) {
    this.#state = state;
  }

  /** Verification of files counts as work of the tenant that owns them. */
  get #lane(): string {
    return `${this.#state.directory.tenant}#verification`;
  }

  /** Verifies unverified parts, once for all present requests. Rejects with frame_damaged or FileChanged. */
  verifyOnce(version: FrameVersion, engine: FrameEngine): Promise<void> {
    if (version.parts.isVerified) return Promise.resolve();
    const running = this.#underWay.get(version.versionId);
    if (running !== undefined) return running;
    const { signal } = this.#state.context;
    const work = this.#check(version, engine, signal).finally(() => this.#underWay.delete(version.versionId));
    this.#underWay.set(version.versionId, work);
    return work;
  }

  async #check(version: FrameVersion, engine: FrameEngine, signal: AbortSignal): Promise<void> {
    const { parts } = version;
    parts.acquire();
    try {
      const sources = await parts.unverifiedSources();
      for (const [index, part] of parts.parts.entries()) {
        const path = sources[index]?.path;
        if (path === undefined || part.check.passed) continue;
        await this.verifyNow(version, part, path, engine, signal);
        part.check.passed = true;
      }
    } finally {
      parts.release();
    }
  }

  /** Verifies one part, even if it was verified before. */
  async verifyNow(
    version: FrameVersion,
    part: HeldPart,
    path: string,
    engine: FrameEngine,
    signal: AbortSignal,
  ): Promise<void> {
    const fault = await this.#faultOf(part, path, engine, signal);
    if (fault === undefined) return;
    const found = await this.#state.directory.identify(path);
    if (found === undefined || !sameIdentity(found, part)) throw new FileChanged(part.file);
    await this.#markDamaged(version, fault);
    throw frameDamaged(version.manifest.handle, fault);
  }

  async #faultOf(part: HeldPart, path: string, engine: FrameEngine, signal: AbortSignal): Promise<string | undefined> {
    try {
      const { checksum, size } = part;
      if (checksum !== null) {
        const isSame = await hasPartChecksum(engine, { checksum, size }, path, { signal, lane: this.#lane });
        return isSame ? undefined : differs;
      }
      await engine.probe(path, { signal, lane: this.#lane });
      return undefined;
    } catch (error) {
      if (signal.aborted || isTransient(error) || !(error instanceof AppError)) throw error;
      // Whole, and of types that are refused since it was taken.
      if (error.code === 'unsupported_type') return undefined;
      return unreadable;
    }
  }

  /** For a part that was read without a lock: it may not belong to the frame any more. */
  async noteFault(handle: Handle, part: Part, reason: string): Promise<void> {
    const entry = this.#state.catalog.get(handle);
    if (entry?.kind !== 'held') return;
    const { version } = entry;
    const isPart = version.manifest.parts.some((one) => one.file === part.file && sameIdentity(one, part));
    if (isPart) await this.#markDamaged(version, reason);
  }

  async #markDamaged(version: FrameVersion, reason: string): Promise<void> {
    const { handle, version: number, parts: files } = version.manifest;
    const entry = this.#state.catalog.get(handle);
    if (entry?.kind !== 'held' || entry.version !== version) return;
    this.#state.context.logger.error('a frame is damaged', { handle, version: number, reason });
    await this.#state.setEntry(handle, { kind: 'damaged', files, version: number, reason });
  }
}

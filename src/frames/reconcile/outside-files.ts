import { isTransient } from '../../core/errors/app-error.ts';
import { errnoOf } from '../../core/errors/storage-error.ts';
import type { Handle } from '../../core/names/handle.ts';
import type { Settling } from '../catalog/catalog.ts';
import { partsFound, type TenantState } from '../catalog/tenant-state.ts';
import { type Manifest, newLineage, originOf } from '../disk/manifest.ts';
import { type FileIdentity, type Part, sameFiles } from '../disk/part.ts';
import { FileChanged } from '../disk/part-links.ts';
import { LogDamaged } from '../log/log-folder.ts';
import { FileAdopter, Unreadable } from './adopt-files.ts';
import type { HandleState } from './assess-handle.ts';
import { markDamaged, readTail } from './read-tail.ts';
import { tidy } from './repair-handle.ts';

type Outside = Extract<HandleState, { kind: 'outside' }>;

/** A file is taken for complete when it was the same this long, or when it was last written long ago. */
const restMs = 200;
const oldMs = 1000;
/** An unreadable one is taken for damaged, rather than for half copied, after this long. */
const damagedRestMs = 2000;
const damagedOldMs = 3000;
const pauseMs = 500;
const mostAttempts = 3;

/** Makes frames of files that somebody put into the directory. */
export class OutsideFiles implements Disposable {
  readonly #state: TenantState;
  readonly #adopter: FileAdopter;
  /** Looks at the handle again. */
  readonly #reconcile: (handle: Handle) => Promise<void>;
  readonly #timers = new Map<Handle, NodeJS.Timeout>();

  constructor(state: TenantState, reconcile: (handle: Handle) => Promise<void>) {
    this.#state = state;
    this.#adopter = new FileAdopter(state.context.engine, state.directory);
    this.#reconcile = reconcile;
  }

  /** Takes them when they are complete. */
  async settle(handle: Handle, finding: Outside): Promise<void> {
    const before = this.#state.catalog.get(handle);
    let settling: Settling;
    if (before?.kind === 'settling' && sameFiles(before.files, finding.files)) {
      settling = before;
    } else {
      settling = {
        kind: 'settling',
        files: finding.files,
        firstSeenMs: performance.now(),
        version: finding.version,
        replacesHeld: before?.kind === 'held' || (before?.kind === 'settling' && before.replacesHeld),
        reason: undefined,
        attempts: 0,
      };
      await this.#state.setEntry(handle, settling);
    }
    const seenMs = performance.now() - settling.firstSeenMs;
    const ageMs = Date.now() - lastWriteMs(finding.files);
    if (seenMs < restMs && ageMs < oldMs) return this.#lookAgain(handle, restMs - seenMs);
    // A file that a dead process left in the middle of a write is no file from outside.
    if (this.#state.context.peers.isUncertain) return this.#lookAgain(handle, pauseMs);
    if (finding.previous === undefined && (await this.#mayLackRows(handle))) {
      const { files, version } = finding;
      const reason = 'its manifest is not readable, and rows of it may be in its log';
      this.#state.context.logger.error('a frame is damaged', { handle, reason });
      return this.#state.setEntry(handle, { kind: 'damaged', files, version, reason });
    }
    if (settling.reason === undefined) {
      const held = await this.#adopt(handle, finding, settling);
      if (held || settling.reason === undefined) return;
    }
    if (seenMs < damagedRestMs && ageMs < damagedOldMs) return this.#lookAgain(handle, damagedRestMs - seenMs);
    const { files, version, reason } = settling;
    this.#state.context.logger.warn('a frame from outside is unreadable', { handle, reason });
    await this.#state.setEntry(handle, { kind: 'damaged', files, version, reason });
  }

  /** Only its manifest, which is damaged, can say whether the rows of its log are rows of the frame. */
  async #mayLackRows(handle: Handle): Promise<boolean> {
    const { logs, records } = this.#state;
    return (await logs.list(handle)).length > 0 && (await records.isManifestDamaged(handle));
  }

  /** True when the frame is held now. When not, a reason was noted or another look is due. */
  async #adopt(handle: Handle, finding: Outside, settling: Settling): Promise<boolean> {
    const { context, records } = this.#state;
    try {
      const { columns, parts } = await context.adoptions.run(() =>
        this.#adopter.adopt(finding.files, finding.known, context.signal),
      );
      const isRestored = finding.previous !== undefined && sameContent(finding.previous.parts, parts);
      const manifest: Manifest = {
        handle,
        version: finding.version,
        ...(finding.previous !== undefined && { origin: originOf(finding.previous) }),
        createdAt: context.now(),
        ttlMs: null,
        ...(isRestored ? finding.previous : newLineage()),
        columns,
        parts,
        replaces: [],
      };
      await tidy(this.#state, handle, async () => {
        await this.#state.directory.prepare();
        await records.writeAdopted(manifest);
        await this.#state.announceChange(handle);
      });
      const tail = await readTail(this.#state, manifest);
      if (tail instanceof LogDamaged) await markDamaged(this.#state, manifest, tail);
      else await this.#state.hold(manifest, partsFound(manifest), tail);
      this.#state.rewriteLater(manifest);
      const fields = { handle, version: manifest.version };
      if (isRestored) context.logger.info('a frame was moved or restored', fields);
      else if (finding.previous?.parts.some(({ checksum }) => checksum !== null))
        context.logger.warn(
          'files of a frame that this program had written were replaced or changed from outside',
          fields,
        );
      else context.logger.info('a frame from outside is held', fields);
      return true;
    } catch (error) {
      if (error instanceof Unreadable) settling.reason = error.message;
      else if (error instanceof FileChanged || errnoOf(error) === 'ENOENT') this.#lookAgain(handle, restMs);
      else if (context.signal.aborted) return false;
      else if (isTransient(error) && (++settling.attempts < mostAttempts || isBusy(error))) {
        this.#lookAgain(handle, pauseMs);
      } else {
        settling.reason = 'reading it failed';
        context.logger.warn('a frame from outside could not be read', { handle, error: String(error) });
      }
      return false;
    }
  }

  #lookAgain(handle: Handle, inMs: number): void {
    clearTimeout(this.#timers.get(handle));
    const timer = setTimeout(() => {
      this.#timers.delete(handle);
      this.#reconcile(handle).catch((error) => {
        this.#state.context.logger.warn('could not look at a frame', { handle, error: String(error) });
      });
    }, inMs + 10);
    this.#timers.set(handle, timer.unref());
  }

  [Symbol.dispose](): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
  }
}

/** The same bytes under the same names, by their checksums. */
function sameContent(before: readonly Part[], now: readonly Part[]): boolean {
  return (
    before.length === now.length &&
    before.every(
      ({ file, checksum }, at) => checksum !== null && now[at]?.file === file && now[at]?.checksum === checksum,
    )
  );
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'overloaded';
}

function lastWriteMs(files: readonly FileIdentity[]): number {
  return Math.max(...files.map((file) => Number(BigInt(file.mtimeNs) / 1_000_000n)));
}

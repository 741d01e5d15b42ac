import { rm } from 'node:fs/promises';
import { backgroundTimeoutMs } from '../../core/async/background-timeout.ts';
import { LinkedAbort } from '../../core/async/linked-abort.ts';
import { AppError, isTransient } from '../../core/errors/app-error.ts';
import type { Handle } from '../../core/names/handle.ts';
import type { PartSource } from '../../core/rows/frame-engine.ts';
import { columnDifference } from '../catalog/column-difference.ts';
import type { FrameVersion } from '../catalog/frame-version.ts';
import type { TenantState } from '../catalog/tenant-state.ts';
import { rowsOf, totalBytes } from '../disk/manifest.ts';
import { isToExamine, justIdentity, sameIdentity } from '../disk/part.ts';
import { PartCheck } from '../disk/part-check.ts';
import type { HeldPart } from '../disk/part-links.ts';
import type { Reconciler } from '../reconcile/reconciler.ts';
import { withoutCheck } from '../write/commit-version.ts';
import { type MergeOptions, planRewrite } from './merge-plan.ts';
import type { Verification } from './verification.ts';

/** A frame that wants more has another turn behind the others. */
const mostRewritesInTurn = 8;
/** Each time the manifest is written. */
const mostExaminedAtOnce = 100;

/** What a run becomes, by its parts as they are by then. */
type Swap = (current: readonly HeldPart[]) => readonly HeldPart[];

/** Rewrites the parts of one tenant's frames: small ones into one, others compressed as configured. */
export class PartRewriter {
  readonly #state: TenantState;
  readonly #reconciler: Reconciler;
  readonly #verification: Verification;

  constructor(state: TenantState, reconciler: Reconciler, verification: Verification) {
    this.#state = state;
    this.#reconciler = reconciler;
    this.#verification = verification;
  }

  /** The version stays, only its files change. Gives whether there is more to do. */
  async rewrite(handle: Handle, options: MergeOptions, signal: AbortSignal): Promise<boolean> {
    for (let turn = 0; ; turn++) {
      signal.throwIfAborted();
      const entry = this.#state.catalog.get(handle);
      if (entry?.kind !== 'held') return false;
      const isLeft = ({ check }: HeldPart): boolean => this.#state.slowParts.has(check);
      const { parts } = entry.version.parts;
      const planned = planRewrite(parts, { ...options, isLeft });
      const run = isExamination(planned) ? unexaminedFrom(parts, planned, isLeft) : planned;
      if (run.length === 0) return false;
      if (turn === mostRewritesInTurn) return true;
      if (!(await this.#rewriteRun(entry.version, run, signal))) return false;
    }
  }

  async #rewriteRun(version: FrameVersion, run: readonly HeldPart[], callerSignal: AbortSignal): Promise<boolean> {
    const { context, directory } = this.#state;
    const { handle } = version.manifest;
    const { parts } = version;
    const temporary = directory.newTemporaryPath();
    const uncompressedBytes = run.reduce((sum, part) => sum + part.uncompressedBytes, 0);
    const timeoutMs = context.recompressionTimeoutMs ?? backgroundTimeoutMs(uncompressedBytes);
    using work = new LinkedAbort([callerSignal], timeoutMs);
    const unwatch = this.#watch(handle, run, () => work.abort(new Error('the parts are no longer there')));
    parts.acquire();
    try {
      const sources = (await parts.unverifiedSources())
        .slice(parts.parts.indexOf(run[0] as HeldPart))
        .slice(0, run.length);
      if (isExamination(run)) {
        const examined = await this.#examine(run, sources, work.signal);
        return await this.#state.change(handle, () => this.#swap(handle, run, examined));
      }
      const made = await this.#write(version, run, sources, temporary, work.signal);
      if (made === undefined) return this.#leave(run);
      return await this.#state.change(handle, async () => {
        await this.#reconciler.reconcileLocked(handle);
        const identity = await directory.identify(temporary);
        if (identity === undefined) return false;
        const hasLimit = (await context.limitsOf(directory.tenant))?.maxBytes !== undefined;
        // It may have no room to grow.
        if (hasLimit && identity.size > totalBytes(run)) return this.#leave(run);
        const merged: Swap = ([first]) => [{ ...made, ...identity, file: first?.file ?? made.file }];
        return this.#swap(handle, run, merged, temporary);
      });
    } catch (error) {
      if (work.isLate || isFinal(error)) this.#leave(run);
      if (work.signal.aborted && !work.isLate && !callerSignal.aborted) return true;
      throw error;
    } finally {
      unwatch();
      parts.release();
      await rm(temporary, { force: true });
    }
  }

  /** Parts of an earlier version that DuckDB misreads are to be rewritten. Files from outside stay as they are. */
  async #examine(run: readonly HeldPart[], sources: readonly PartSource[], signal: AbortSignal): Promise<Swap> {
    const { backgroundEngine } = this.#state.context;
    const options = { signal, lane: 'recompression', looksForNan: true };
    const found: Partial<Pick<HeldPart, 'final' | 'isFreeOfNan'>>[] = [];
    for (const [index, { checksum }] of run.entries()) {
      try {
        const { isMisread, isFreeOfNan } = await backgroundEngine.probe(sources[index]?.path ?? '', options);
        found.push({ isFreeOfNan, ...(isMisread && checksum !== null && { final: false }) });
      } catch (error) {
        if (!isFinal(error)) throw error;
        found.push({});
      }
    }
    return (current) => current.map((part, index) => ({ ...part, ...found[index], exact: true }));
  }

  /** The rows of the run in one file. Undefined where that would change them. */
  async #write(
    version: FrameVersion,
    run: readonly HeldPart[],
    sources: readonly PartSource[],
    path: string,
    signal: AbortSignal,
  ): Promise<HeldPart | undefined> {
    const { context } = this.#state;
    const { backgroundEngine: engine, compression } = context;
    const { handle, columns } = version.manifest;
    for (const [index, part] of run.entries()) {
      // Otherwise damage, also since the last check, would get a fresh checksum.
      await this.#verification.verifyNow(version, part, sources[index]?.path ?? '', engine, signal);
    }
    const source = { kind: 'parquet', parts: sources, columns } as const;
    const written = await engine.write(
      { source, path, compression, comparesValues: true },
      { signal, lane: 'recompression' },
    );
    const difference = columnDifference(columns, written.columns);
    const [first] = run;
    const isChanged = written.rows !== rowsOf(run) || difference !== undefined || written.differs === true;
    if (first === undefined || isChanged) {
      context.logger.error('to rewrite parts of a frame would change it; they stay as they are', {
        handle,
        difference: difference ?? (written.differs && 'values'),
      });
      return undefined;
    }
    return {
      ...first,
      checksum: written.checksum,
      rows: written.rows,
      uncompressedBytes: written.uncompressedBytes,
      columnCount: columns.length,
      final: true,
      exact: true,
      isFreeOfNan: undefined,
      check: new PartCheck(written, { passed: true }),
    };
  }

  /** They are not tried again until a restart. */
  #leave(run: readonly HeldPart[]): true {
    for (const { check } of run) this.#state.slowParts.add(check);
    return true;
  }

  /** Returns a function that ends the watch. The next version may still have the parts, with rows appended. */
  #watch(handle: Handle, run: readonly HeldPart[], onGone: () => void): () => void {
    let isEnded = false;
    const look = (): void => {
      if (isEnded) return;
      const entry = this.#state.catalog.get(handle);
      const isThere = entry?.kind === 'held' && positionOf(run, entry.version.parts.parts) !== undefined;
      if (isThere) entry.version.retired.addEventListener('abort', look, { once: true });
      else onGone();
    };
    look();
    return () => {
      isEnded = true;
    };
  }

  /**
   * The handle's lock is held. True also when the parts are no longer there: then the frame has others to look at.
   * `temporary`: the file that takes the place of the run. Default: its files stay, and more is known of them.
   */
  async #swap(handle: Handle, run: readonly HeldPart[], swap: Swap, temporary?: string): Promise<boolean> {
    const { catalog, commits, partLinks, context } = this.#state;
    context.durable.assertWritable();
    const entry = catalog.get(handle);
    if (entry?.kind !== 'held') return false;
    const { version } = entry;
    const before = version.parts;
    const at = positionOf(run, before.parts);
    const [current, ...others] = at === undefined ? [] : before.parts.slice(at, at + run.length);
    if (at === undefined || current === undefined) return true;
    const made = swap([current, ...others]).map(({ columnCount, ...part }) => {
      // Some may have been added meanwhile.
      const hasAllColumns = columnCount === undefined || columnCount === version.manifest.columns.length;
      return hasAllColumns ? part : { ...part, columnCount };
    });
    const parts = before.parts.toSpliced(at, run.length, ...made);
    const manifest = {
      ...version.manifest,
      parts: parts.map(withoutCheck),
      replaces: [
        ...(await commits.stillThere(version.manifest.replaces)),
        ...(temporary === undefined ? [] : others.map(justIdentity)),
      ],
      partsAdded: undefined,
    };
    await before.protect();
    try {
      const place = temporary === undefined ? commits.inPlace() : commits.replace(current.file, temporary);
      await commits.commit(manifest, place, { syncPending: temporary !== undefined });
    } catch (error) {
      before.unprotect();
      throw error;
    }
    if (temporary !== undefined) await partLinks.noteWritten(made);
    version.manifest = manifest;
    version.parts = partLinks.set(parts);
    catalog.set(handle, entry);
    await before.retire();
    return true;
  }
}

/** Its only part needs no compression. */
function isExamination(run: readonly HeldPart[]): boolean {
  return run.length > 0 && run.every((part) => part.final && isToExamine(part));
}

/** The part of a plan with further parts behind it that must be examined. */
function unexaminedFrom(
  parts: readonly HeldPart[],
  [first]: readonly HeldPart[],
  isLeft: (part: HeldPart) => boolean,
): readonly HeldPart[] {
  const at = first === undefined ? 0 : parts.indexOf(first);
  const end = parts.findIndex((part, index) => index > at && (!part.final || !isToExamine(part) || isLeft(part)));
  return parts.slice(at, Math.min(end < 0 ? parts.length : end, at + mostExaminedAtOnce));
}

/** The start of the run among the parts. Undefined if they are not all there, one behind the other. */
function positionOf(run: readonly HeldPart[], parts: readonly HeldPart[]): number | undefined {
  const [first] = run;
  const at = first === undefined ? -1 : parts.findIndex((part) => sameIdentity(part, first));
  const isThere =
    at >= 0 &&
    run.every((part, index) => {
      const found = parts[at + index];
      return found !== undefined && sameIdentity(found, part);
    });
  return isThere ? at : undefined;
}

/** Not because of a moment: it would fail again. */
function isFinal(error: unknown): boolean {
  return error instanceof AppError && ['unsupported_type', 'invalid_input'].includes(error.code) && !isTransient(error);
}

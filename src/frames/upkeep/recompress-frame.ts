import { rm } from 'node:fs/promises';
import { backgroundTimeoutMs } from '../../core/async/limited-wait.ts';
import { LinkedAbort } from '../../core/async/linked-abort.ts';
import type { Handle } from '../../core/handle.ts';
import { columnDifference } from '../catalog/column-difference.ts';
import type { FrameVersion } from '../catalog/frame-version.ts';
import type { TenantState } from '../catalog/tenant-state.ts';
import { sameIdentity } from '../disk/part.ts';
import { PartCheck } from '../disk/part-check.ts';
import type { HeldPart } from '../disk/part-links.ts';
import type { Reconciler } from '../reconcile/reconciler.ts';
import { withoutCheck } from '../write/put-frame.ts';
import type { Verification } from './verification.ts';

/** Rewrites the parts of a frame that are not compressed as configured. The version stays, only its files change. */
export async function recompressFrame(
  state: TenantState,
  reconciler: Reconciler,
  verification: Verification,
  handle: Handle,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const entry = state.catalog.get(handle);
    if (entry?.kind !== 'held') return;
    const part = entry.version.parts.parts.find((one) => !one.final && !state.slowParts.has(one.check));
    if (part === undefined) return;
    const isDone = await recompressPart(state, reconciler, verification, entry.version, part, signal);
    if (!isDone) return;
  }
}

async function recompressPart(
  state: TenantState,
  reconciler: Reconciler,
  verification: Verification,
  version: FrameVersion,
  part: HeldPart,
  callerSignal: AbortSignal,
): Promise<boolean> {
  const { context, directory } = state;
  const { handle, columns } = version.manifest;
  const { parts } = version;
  const temporary = directory.newTemporaryPath();
  const timeoutMs = context.recompressionTimeoutMs ?? backgroundTimeoutMs(part.uncompressedBytes);
  using work = new LinkedAbort([callerSignal], timeoutMs);
  const { signal } = work;
  const unwatch = watchPart(state, handle, part, () => work.abort(new Error('the part is no longer there')));
  parts.acquire();
  try {
    const source = (await parts.unverifiedSources())[parts.parts.indexOf(part)];
    if (source === undefined) return false;
    // Else damage, also since it was last looked at, would be given a fresh checksum.
    await verification.verifyNow(version, part, source.path, context.backgroundEngine, signal);
    const written = await context.backgroundEngine.write(
      {
        source: { kind: 'parquet', parts: [source], columns },
        path: temporary,
        compression: context.compression,
      },
      { signal, lane: 'recompression' },
    );
    const difference = columnDifference(columns, written.columns);
    if (written.rows !== part.rows || difference !== undefined) {
      context.logger.error('recompression would change a frame; it stays as it is', { handle, difference });
      return false;
    }
    return await state.change(handle, async () => {
      await reconciler.reconcileLocked(handle);
      const identity = await directory.identify(temporary);
      if (identity === undefined) return false;
      if (identity.size > part.size && (await context.limitsOf(directory.tenant))?.maxBytes !== undefined) {
        // It may have no room to grow.
        state.slowParts.add(part.check);
        return true;
      }
      return swapPart(state, handle, part, temporary, {
        ...part,
        ...identity,
        checksum: written.checksum,
        uncompressedBytes: written.uncompressedBytes,
        final: true,
        check: new PartCheck(written, { passed: true }),
      });
    });
  } catch (error) {
    if (work.isLate) state.slowParts.add(part.check);
    if (signal.aborted && !work.isLate && !callerSignal.aborted) return true;
    throw error;
  } finally {
    unwatch();
    parts.release();
    await rm(temporary, { force: true });
  }
}

/** Gives what ends the watch. A version may be followed by one that still has the part, with rows appended. */
function watchPart({ catalog }: TenantState, handle: Handle, part: HeldPart, onGone: () => void): () => void {
  const ended = new AbortController();
  const look = (): void => {
    const entry = catalog.get(handle);
    const isThere = entry?.kind === 'held' && entry.version.parts.parts.some((one) => sameIdentity(one, part));
    if (isThere) entry.version.retired.addEventListener('abort', look, { once: true, signal: ended.signal });
    else onGone();
  };
  look();
  return () => ended.abort();
}

/** The handle's lock is held. True also when the part is no longer there: then the frame has another to look at. */
async function swapPart(
  state: TenantState,
  handle: Handle,
  old: HeldPart,
  temporary: string,
  made: HeldPart,
): Promise<boolean> {
  const { catalog, commits, partLinks, context } = state;
  context.durable.assertWritable();
  const entry = catalog.get(handle);
  if (entry?.kind !== 'held') return false;
  const { version } = entry;
  const before = version.parts;
  const at = before.parts.findIndex((one) => sameIdentity(one, old));
  const current = before.parts[at];
  if (current === undefined) return true;
  const parts = before.parts.with(at, { ...made, file: current.file });
  const manifest = { ...version.manifest, parts: parts.map(withoutCheck) };
  await before.protect();
  try {
    await commits.commit(manifest, commits.replace(current.file, temporary), { syncPending: true });
  } catch (error) {
    before.unprotect();
    throw error;
  }
  await partLinks.noteWritten(parts.filter((part) => part.check === made.check));
  version.manifest = manifest;
  version.parts = partLinks.set(parts);
  catalog.set(handle, entry);
  await before.retire();
  return true;
}

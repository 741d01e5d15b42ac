import type { Principal } from '../core/callers/principal.ts';
import { AppError } from '../core/errors/app-error.ts';
import { isSharedName } from '../core/names/frame-name.ts';
import type { Handle } from '../core/names/handle.ts';
import type { HeldSummary } from '../frames/catalog/frame-summary.ts';
import type { Frames } from '../frames/frames.ts';
import type { AccessRecords } from './access-records.ts';
import { isWithin } from './rights.ts';

type Listed = Pick<Frames<never>, 'list'>;

/** Names of the tables that a view reads: `owner/handle` of another tenant's. */
interface View {
  readonly handle: string;
  readonly origin: string | undefined;
  readonly reads: readonly string[];
}

/** A share is for its reader alone: no view over it is shared further. `frames` lists frames without the token's prefix, too. */
export async function refuseSharedView(frames: Listed, principal: Principal, frame: HeldSummary): Promise<void> {
  if (frame.view === undefined) return;
  const foreign = foreignTable(frame.handle, await viewsOf(frames, principal));
  if (foreign === undefined) return;
  throw new AppError('forbidden', `view ${frame.handle} reads ${foreign}, which is shared with you alone`, {
    hint: 'ask its owner to share it with the other tenant too; a view of frames of your own can be shared',
  });
}

/** The same if a shared view, or a view that such a view reads, is to be saved. */
export async function refuseSavedView(
  frames: Listed,
  records: AccessRecords,
  principal: Principal,
  { handle, reads }: { readonly handle: Handle; readonly reads: readonly string[] },
): Promise<void> {
  if (reads.length === 0) return;
  const views = await viewsOf(frames, principal);
  views.set(handle, { handle, origin: views.get(handle)?.origin, reads });
  const foreign = foreignTable(handle, views);
  if (foreign === undefined) return;
  for (const view of views.values()) {
    const { tenant } = principal;
    const shares = records.shares.ofFrame(tenant, view.handle as Handle);
    if (shares.length === 0 || !reachable(view.handle, views).has(handle)) continue;
    const origins = await Promise.all(shares.map((share) => records.shares.originOf(share)));
    if (!origins.includes(view.origin)) continue;
    const shown = isWithin(principal, view.handle) ? view.handle : 'a view that reads it';
    throw new AppError(
      'forbidden',
      `view ${handle} would read ${foreign}, which is shared with you alone, and ${shown} is shared with others`,
      { hint: 'end those shares, or make the view under another name' },
    );
  }
}

async function viewsOf(frames: Listed, principal: Principal): Promise<Map<string, View>> {
  const views = new Map<string, View>();
  for await (const frame of frames.list(principal, { whose: 'own' })) {
    if (frame.state !== 'held' || frame.view === undefined) continue;
    const { handle, origin, view } = frame;
    views.set(handle, { handle, origin, reads: view.reads });
  }
  return views;
}

/** A table of another tenant that the view reads, also through other views. */
function foreignTable(handle: string, views: ReadonlyMap<string, View>): string | undefined {
  return [...reachable(handle, views)].find(isSharedName);
}

/** The view and all that it reads, also through other views. */
function reachable(handle: string, views: ReadonlyMap<string, View>): ReadonlySet<string> {
  const found = new Set([handle]);
  // The loop also visits the elements added during it.
  for (const each of found) for (const read of views.get(each)?.reads ?? []) found.add(read);
  return found;
}

import { dirname, join } from 'node:path';
import { promised } from '../harness/scenario.ts';
import type { DiskEvent } from './disk-events.ts';
import type { Act } from './every-act.ts';

type Placing = Extract<DiskEvent, { kind: 'place' }>;

/**
 * Fails unless a disk that keeps nothing but what it was told to has the act, given everything that happened before its
 * reply. `since` is when its request came.
 */
export function assertOnDisk(
  { name, handle, record, hasData }: Act,
  coldDirectory: string,
  since: number,
  events: readonly DiskEvent[],
): void {
  const own = join(coldDirectory, '.framehold');
  const isScratch = (path: string) => ['tmp', 'pins'].some((folder) => path.startsWith(join(own, folder)));
  const placings = events.filter((event): event is Placing => event.kind === 'place' && !isScratch(event.path));
  const isOwn = ({ path, beganAt }: DiskEvent) => isOf(handle, coldDirectory, path) && beganAt > since;

  const recordPath = join(own, record, `${handle}.json`);
  const recorded = placings.find(({ path, beganAt }) => path === recordPath && beganAt > since);
  if (recorded === undefined && isInLog(join(own, 'logs', handle), since, events)) return;
  promised(recorded !== undefined, `${name} leaves a record`, recordPath);
  const data = placings.filter(isOwn);
  promised(!hasData || data.length > 0, `${name} places its rows`);

  for (const placing of [...data, recorded]) {
    const { path, beganAt } = placing;
    const inside = events.filter((event): event is Placing => event.kind === 'place' && isIn(placing.from, event.path));
    for (const { file, path: placed } of [...inside, placing]) {
      const isChange = (event: DiskEvent) => event.kind === 'change' && event.file === file;
      const isAdded = (event: DiskEvent) => event.kind === 'place' && file === placing.file && inside.includes(event);
      const changes = events.filter((event) => event.endedAt < beganAt && (isChange(event) || isAdded(event)));
      const changedAt = Math.max(-1, ...changes.map(({ endedAt }) => endedAt));
      const isSynced = events.some((event) => {
        return event.kind === 'sync' && event.file === file && event.beganAt > changedAt && event.endedAt < beganAt;
      });
      promised(isSynced, `${name} syncs ${placed} before it places ${path}, and does not touch it in between`);
    }
    const syncedBy = firstSync(events, dirname(path), placing.endedAt);
    promised(syncedBy !== undefined, `${name} syncs ${dirname(path)} after it places ${path}`);
    const isInOrder = placing === recorded || syncedBy.endedAt < recorded.beganAt;
    promised(isInOrder, `${name} syncs ${dirname(path)} before it gives the record its name`);
    for (const made of events.filter(({ kind, path: folder }) => kind === 'make folder' && isIn(folder, path))) {
      if (isScratch(made.path)) continue;
      const parentSynced = firstSync(events, dirname(made.path), made.endedAt);
      promised(parentSynced !== undefined, `${name} has its folders: ${dirname(made.path)} is synced`, made.path);
    }
  }

  const recordedAt = firstSync(events, dirname(recordPath), recorded.endedAt)?.endedAt ?? Number.POSITIVE_INFINITY;
  const early = events.find((event) => event.kind === 'remove' && isOwn(event) && event.beganAt < recordedAt);
  promised(early === undefined, `${name} removes nothing before its record is on the disk`, early);
}

/** Whether the rows were written to the log of the frame, and both are on the disk. */
function isInLog(folder: string, since: number, events: readonly DiskEvent[]): boolean {
  const written = events.find((event) => event.kind === 'change' && isIn(folder, event.path) && event.beganAt > since);
  if (written?.kind !== 'change') return false;
  promised(written.isDurable, 'a write to a log returns when it is on the disk', written.path);
  const placed = events.find((event) => event.kind === 'place' && event.file === written.file);
  const isNamed = placed !== undefined && firstSync(events, folder, placed.endedAt) !== undefined;
  promised(isNamed, `${folder} is synced after a log comes into it`, written.path);
  for (const made of [folder, dirname(folder)]) {
    const making = events.find((event) => event.kind === 'make folder' && event.path === made);
    const isKept = making === undefined || firstSync(events, dirname(made), making.endedAt) !== undefined;
    promised(isKept, `${dirname(made)} is synced after a folder is made in it`, made);
  }
  return true;
}

function firstSync(events: readonly DiskEvent[], path: string, after: number): DiskEvent | undefined {
  return events.find((event) => event.kind === 'sync' && event.path === path && event.beganAt > after);
}

function isOf(handle: string, coldDirectory: string, path: string): boolean {
  const publicName = join(coldDirectory, handle);
  return path === `${publicName}.parquet` || path === publicName || isIn(publicName, path);
}

function isIn(folder: string, path: string): boolean {
  return path.startsWith(`${folder}/`);
}

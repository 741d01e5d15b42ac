import { shownBytes, shownMs } from '../core/text/amounts.ts';
import { type DirectoryFacts, type Operation, operations } from './directory-probe.ts';
import { type Finding, notOk, ok } from './finding.ts';

/** Below this part of the disk the cache shrinks, and there is little left for spilled work. */
const leastFreeShare = 0.05;
/** The time on SSDs, and the time that makes each append slow. */
const fastMs = 2;
const slowMs = 20;
const verySlowMs = 100;

/** File systems that keep nothing, or of which there is something to know. */
const known: readonly (readonly [type: RegExp, level: 'note' | 'warn', meaning: string, remedy: string])[] = [
  [/^(tmpfs|ramfs)$/, 'warn', 'kept in memory, so all frames are gone after a restart of the machine', 'use a disk'],
  [
    /^overlay$/,
    'note',
    'a layer of a container, so all frames go when the container is removed, and writes are slower',
    'mount a volume there',
  ],
  [
    /^nfs/,
    'note',
    'shared over the network, so each durable write is a round trip',
    'mount it with NFSv4 and hard; for several servers see docs/guides/scale-out.md',
  ],
  [
    /^(fuse|9p|virtiofs|cifs|smb)/,
    'note',
    'whether such a file system keeps what it said it kept depends on its program',
    'prefer a local file system, or NFSv4',
  ],
];

const needs: Readonly<Record<Operation, string>> = {
  durableWrites: 'rows cannot be appended',
  hardLinks: 'new frames cannot be put',
  rename: 'frames cannot be replaced or dropped',
  folderSync: 'what is written may be lost in a power cut',
};

export interface DiskNeeds {
  /** `storage.data_dir` or `storage.parquet_path`. */
  readonly setting: string;
  /** Size of the caches in it. 0: none, or only limited by the free space. */
  readonly cacheBytes: number;
  /** The user that the checks run as. */
  readonly user: string;
}

export function judgeDataDirectory(facts: DirectoryFacts, disk: DiskNeeds): Finding {
  return judgeUse('data', facts, disk) ?? judgeSpace('data', facts, disk) ?? ok('data', shown(facts));
}

export function judgeColdDirectory(facts: DirectoryFacts, disk: DiskNeeds): Finding {
  const general = judgeUse('cold', facts, disk);
  if (general !== undefined) return general;
  const [refused] = [...facts.refused];
  if (refused !== undefined) {
    const [operation, reason] = refused;
    const found = `${shown(facts)}; no ${operations[operation]} (${reason})`;
    return notOk('fail', 'cold', found, needs[operation], 'use a local file system such as ext4 or xfs, or NFSv4');
  }
  const space = judgeSpace('cold', facts, disk);
  if (space !== undefined) return space;
  const found = `${shown(facts)}; ${Object.values(operations).join(', ')} work`;
  const special = known.find(([type]) => type.test(facts.fileSystem ?? ''));
  if (special === undefined) return ok('cold', found);
  const [, level, meaning, remedy] = special;
  return notOk(level, 'cold', found, meaning, remedy);
}

/** Whether it can be used at all. */
function judgeUse(check: 'data' | 'cold', facts: DirectoryFacts, { setting, user }: DiskNeeds): Finding | undefined {
  const { path, base, state, writeProblem } = facts;
  if (writeProblem === undefined) return undefined;
  const remedy = `give it to user ${user}, or name another with ${setting}`;
  if (state === 'there') {
    const meaning = 'the server serves the frames that are there, and refuses all writes';
    return notOk('warn', check, `${path} cannot be written (${writeProblem})`, meaning, remedy);
  }
  const found =
    state === 'missing'
      ? `${path} cannot be made in ${base} (${writeProblem})`
      : `${path} cannot be used (${writeProblem})`;
  return notOk('fail', check, found, 'the server does not start', remedy);
}

function judgeSpace(
  check: 'data' | 'cold',
  facts: DirectoryFacts,
  { cacheBytes, setting }: DiskNeeds,
): Finding | undefined {
  const { freeBytes, totalBytes } = facts;
  if (freeBytes < totalBytes * leastFreeShare) {
    const meaning = 'the disk is almost full: writes are refused when it is, and the disk cache shrinks';
    return notOk('warn', check, shown(facts), meaning, `make room, or name another disk with ${setting}`);
  }
  if (freeBytes < cacheBytes) {
    const found = `${shown(facts)}, caches of ${shownBytes(cacheBytes)}`;
    const remedy = 'lower storage.cache_size_gb or storage.disk_cache_gb, or use a larger disk';
    return notOk('note', check, found, 'the caches on disk stay smaller than they may be', remedy);
  }
  return undefined;
}

/** Undefined if nothing could be written; the check of the directory reports that. */
export function judgeWrites({ writesMs, path }: DirectoryFacts): Finding | undefined {
  const sorted = [...writesMs].sort((one, other) => one - other);
  const [median, worst] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted.at(-1)];
  if (median === undefined || worst === undefined) return undefined;
  const found = `${shownMs(median)} median, ${shownMs(worst)} worst of ${sorted.length} durable writes in ${path}`;
  if (median < fastMs) return ok('fsync', `${found}, as an SSD`);
  if (median < slowMs) return ok('fsync', `${found}, as a disk with a fast cache or over a network`);
  const meaning = 'each append and put takes at least as long';
  const remedy = 'use an SSD, look for others that use the disk, or send more rows with each append';
  return notOk(median < verySlowMs ? 'note' : 'warn', 'fsync', found, meaning, remedy);
}

function shown({ path, base, state, fileSystem, freeBytes, totalBytes }: DirectoryFacts): string {
  const place = state === 'missing' ? `${path} can be made in ${base}` : path;
  return `${place}${fileSystem === undefined ? '' : `, ${fileSystem}`}, ${shownBytes(freeBytes)} of ${shownBytes(totalBytes)} free`;
}

import { basename } from 'node:path';
import type { Handle } from '../../core/names/handle.ts';
import type { Entry } from '../catalog/catalog.ts';
import type { FrameVersion } from '../catalog/frame-version.ts';
import type { TenantState } from '../catalog/tenant-state.ts';
import { nextPartName, type PlacedPart, type Placement } from '../disk/commit.ts';
import { type FileIdentity, justIdentity, type Part } from '../disk/part.ts';
import type { HeldPart } from '../disk/part-links.ts';
import type { Tail } from '../log/tail.ts';
import type { VersionFacts } from './next-manifest.ts';
import { filesOf } from './remove-frame.ts';
import type { StagedFile } from './staged-parts.ts';
import type { LockParts } from './under-lock.ts';

/** The parts of a version, and the function that puts their files in place. */
export interface PlacedParts {
  readonly parts: readonly HeldPart[];
  readonly replaces: readonly FileIdentity[];
  readonly place: Placement;
  /** The files of the version before stay where they are. */
  readonly keepsFiles: boolean;
  /** Set if several are added at once. */
  readonly partsAdded?: number | undefined;
}

export interface NextVersion extends PlacedParts {
  readonly facts: VersionFacts;
  /** Rows that stay in the log. Default: none. */
  readonly tail?: Tail | undefined;
}

/** Commits a version with its files and makes it the current version. The handle's lock is held. */
export async function commitVersion(
  { state, reconciler }: LockParts,
  before: FrameVersion | undefined,
  { facts, parts, replaces, place, keepsFiles, partsAdded, tail }: NextVersion,
): Promise<FrameVersion> {
  const manifest = { ...facts, parts: parts.map(withoutCheck), replaces, partsAdded };
  const old = keepsFiles ? undefined : before?.parts;
  await old?.protect();
  try {
    // Without the record it would be unknown which parts belong together.
    await state.commits.commit(manifest, place, { syncPending: partsAdded !== undefined });
  } catch (error) {
    old?.unprotect();
    // Files that could not be taken back would otherwise be shown only after a restart.
    await reconciler.reconcileLocked(manifest.handle).catch(() => {});
    throw error;
  }
  state.rewriteLater(manifest);
  return state.hold(manifest, parts, tail);
}

/** Files that become all parts of a version: a file for one part, else a folder. `toPart` makes the part from a file under a name. */
export async function placeAnew<File extends { readonly path: string }>(
  { directory, commits }: TenantState,
  handle: Handle,
  entry: Entry | undefined,
  files: readonly File[],
  toPart: (file: File, name: string) => Promise<HeldPart>,
): Promise<PlacedParts> {
  const old = filesOf(entry);
  const left = entry?.kind === 'held' ? await commits.stillThere(entry.version.manifest.replaces) : [];
  const replaces = [...old, ...left].map(justIdentity);
  const fileName = directory.fileName(handle);
  const isFile = old[0]?.file === fileName;
  const [only] = files;
  if (only !== undefined && files.length === 1) {
    return {
      parts: [await toPart(only, fileName)],
      replaces: isFile ? left : replaces,
      place: isFile ? commits.replace(fileName, only.path) : commits.create(handle, only.path),
      keepsFiles: false,
    };
  }
  const isFolder = old.length > 0 && !isFile;
  const added = namedAfter(isFolder ? lastOf([...old, ...left]) : undefined, files);
  return {
    parts: await Promise.all(added.map((each) => toPart(each, directory.partName(handle, each.name)))),
    replaces,
    place: isFolder ? commits.addParts(handle, added) : commits.createFolder(handle, added),
    partsAdded: added.length,
    keepsFiles: false,
  };
}

/** Puts files behind the parts of a version. `toPart` makes the part from a file under a name. */
export async function placeBehind(
  state: TenantState,
  version: FrameVersion,
  staged: readonly StagedFile[],
  toPart: (file: StagedFile, name: string) => Promise<HeldPart>,
): Promise<PlacedParts & { readonly moved?: HeldPart | undefined }> {
  const { directory, commits, partLinks } = state;
  const { manifest, parts } = version;
  const { handle } = manifest;
  const old = parts.parts;
  const [first] = old;
  const toParts = (named: readonly (StagedFile & PlacedPart)[]): Promise<HeldPart[]> =>
    Promise.all(named.map((each) => toPart(each, directory.partName(handle, each.name))));
  const partsAdded = staged.length > 1 ? staged.length : undefined;
  if (first?.file === directory.fileName(handle)) {
    const name = '000001.parquet';
    const moved = { ...first, file: directory.partName(handle, name) };
    const isUntouched = await partLinks.isUntouched(first);
    const added = namedAfter(moved, staged);
    return {
      parts: [moved, ...(await toParts(added))],
      replaces: [justIdentity(first)],
      place: commits.createFolder(handle, [{ path: directory.path(first.file), name }, ...added]),
      keepsFiles: false,
      partsAdded,
      moved: isUntouched ? moved : undefined,
    };
  }
  const left = await commits.stillThere(manifest.replaces);
  const added = namedAfter(lastOf([...old, ...left]), staged);
  return {
    parts: [...old, ...(await toParts(added))],
    replaces: left,
    place: commits.addParts(handle, added),
    keepsFiles: true,
    partsAdded,
  };
}

export function withoutCheck({ check: _, ...part }: HeldPart): Part {
  return part;
}

/** By name. Files that are to go have names of their own until they are gone. */
function lastOf(files: readonly FileIdentity[]): FileIdentity | undefined {
  return files.reduce<FileIdentity | undefined>(
    (last, file) => (last === undefined || file.file > last.file ? file : last),
    undefined,
  );
}

/** Names in name order, all behind `last`. */
function namedAfter<File extends { readonly path: string }>(
  last: { readonly file: string } | undefined,
  staged: readonly File[],
): readonly (File & PlacedPart)[] {
  let name = basename(last?.file ?? '000000.parquet');
  return staged.map((each) => {
    name = nextPartName(name);
    return { ...each, name };
  });
}

/** All but the last `added` parts lack the columns that the frame has beyond these. */
export function ofWiderFrame(parts: readonly HeldPart[], added: number, columnCount: number): readonly HeldPart[] {
  const isOlder = (index: number): boolean => index < parts.length - added;
  return parts.map((part, index) =>
    isOlder(index) ? { ...part, columnCount: part.columnCount ?? columnCount } : part,
  );
}

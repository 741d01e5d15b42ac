import type { Handle } from '../../core/names/handle.ts';
import type { Entry } from '../catalog/catalog.ts';
import type { Manifest } from '../disk/manifest.ts';
import type { HandleRecords } from '../disk/manifest-files.ts';
import { type FileIdentity, type Part, sameFiles, sameIdentity } from '../disk/part.ts';
import type { FilesOnDisk } from '../disk/tenant-directory.ts';
import type { Tombstone } from '../disk/tombstone.ts';

export type HandleState =
  /** The data is as the manifest says. `leftovers` are superseded files to remove. */
  | {
      readonly kind: 'held';
      readonly manifest: Manifest;
      readonly wasPending: boolean;
      readonly leftovers: readonly FileIdentity[];
      readonly ignoredFolder: boolean;
    }
  /** Data that no record describes: somebody put it there. */
  | {
      readonly kind: 'outside';
      readonly files: readonly FileIdentity[];
      readonly version: number;
      readonly known: readonly Part[];
      /** The last held version, whose bytes may be in other files now: a restored backup. */
      readonly previous: Manifest | undefined;
      readonly ignoredFolder: boolean;
    }
  /** A drop that was cut off. */
  | { readonly kind: 'half-dropped'; readonly tombstone: Tombstone; readonly files: readonly FileIdentity[] }
  | { readonly kind: 'gone'; readonly tombstone: Tombstone }
  /** The manifest exists without its data: that was removed from outside. */
  | { readonly kind: 'removed'; readonly version: number }
  | { readonly kind: 'absent' };

/** Parts that an interrupted put had moved into the folder. */
export function cutOffParts(
  handle: Handle,
  { folder, file }: FilesOnDisk,
  { manifest, pending }: HandleRecords,
): FileIdentity[] {
  if (pending?.partsAdded === undefined || describes(handle, pending, { folder, file })) return [];
  const added = { ...pending, parts: pending.parts.slice(-pending.partsAdded) };
  return folder.filter((found) => isPartOf(added, found) && !(manifest !== undefined && isPartOf(manifest, found)));
}

/** Decides the state of a handle from its files; the same after a crash as after a change from outside. */
export function assessHandle(
  handle: Handle,
  look: FilesOnDisk,
  { manifest, pending, tombstone }: HandleRecords,
): HandleState {
  for (const candidate of [pending, manifest]) {
    if (candidate === undefined || !describes(handle, candidate, look)) continue;
    if (tombstone !== undefined && tombstone.version >= candidate.version) {
      return { kind: 'half-dropped', tombstone, files: [...candidate.parts, ...leftoversOf(handle, candidate, look)] };
    }
    const leftovers = leftoversOf(handle, candidate, look);
    const ignoredFolder = isFile(handle, candidate) && look.folder.length > 0 && leftovers.length === 0;
    return { kind: 'held', manifest: candidate, wasPending: candidate === pending, leftovers, ignoredFolder };
  }
  const lastVersion = Math.max(manifest?.version ?? 0, tombstone?.version ?? 0);
  const files = dataOf(look);
  const isDropped = manifest !== undefined && tombstone !== undefined && tombstone.version >= manifest.version;
  // The parts of a frame are removed one by one: the remaining ones are no frame of their own.
  if (isDropped && files.length > 0 && files.every((file) => isPartOf(manifest, file) || isReplaced(manifest, file))) {
    return { kind: 'half-dropped', tombstone, files };
  }
  if (files.length > 0) {
    const known = [...(pending?.parts ?? []), ...(manifest?.parts ?? [])];
    const ignoredFolder = look.file !== undefined && look.folder.length > 0;
    return { kind: 'outside', files, version: lastVersion + 1, known, previous: manifest, ignoredFolder };
  }
  if (tombstone !== undefined && tombstone.version >= lastVersion) return { kind: 'gone', tombstone };
  return manifest === undefined ? { kind: 'absent' } : { kind: 'removed', version: manifest.version };
}

/** The files that make the frame: a file wins over a folder of the same name. */
export function dataOf(look: FilesOnDisk): readonly FileIdentity[] {
  return look.file === undefined ? look.folder : [look.file];
}

export function describes(handle: Handle, manifest: Manifest, look: FilesOnDisk): boolean {
  if (isFile(handle, manifest)) return look.file !== undefined && sameFiles(manifest.parts, [look.file]);
  const { file } = look;
  const foreignFile = file !== undefined && !isReplaced(manifest, file);
  const folder = look.folder.filter((found) => !isReplaced(manifest, found));
  return !foreignFile && sameFiles(manifest.parts, folder);
}

function isFile(handle: Handle, manifest: Manifest): boolean {
  return manifest.parts[0]?.file === `${handle}.parquet`;
}

export function isReplaced(manifest: Manifest, found: FileIdentity): boolean {
  return manifest.replaces.some((replaced) => replaced.file === found.file && sameIdentity(replaced, found));
}

function isPartOf({ parts }: Manifest, found: FileIdentity): boolean {
  return parts.some((part) => part.file === found.file && sameIdentity(part, found));
}

/** Files that the manifest lists as superseded, and those of an unfinished append. */
function leftoversOf(handle: Handle, manifest: Manifest, look: FilesOnDisk): readonly FileIdentity[] {
  const found = [...(look.file === undefined ? [] : [look.file]), ...look.folder];
  const replaced = found.filter((file) => isReplaced(manifest, file));
  if (replaced.length > 0 || !isFile(handle, manifest)) return replaced;
  // An append cut off after the folder was made: its first part is the file itself under a second name.
  const [first] = look.folder;
  const cutOffAppend =
    look.folder.length <= 2 && first !== undefined && look.file !== undefined && sameIdentity(first, look.file);
  return cutOffAppend ? look.folder : [];
}

/** Whether the disk is as the catalog says. */
export function isAsKnown(handle: Handle, entry: Entry | undefined, look: FilesOnDisk): boolean {
  switch (entry?.kind) {
    case 'held':
      return describes(handle, entry.version.manifest, look);
    case 'damaged':
      return sameFiles(entry.files, dataOf(look));
    case 'gone':
      return dataOf(look).length === 0;
    case 'settling':
    case undefined:
      return false;
    default:
      return entry satisfies never;
  }
}

/** Files that a write superseded, or could not take back, are still there: the disk that failed then may work now. */
export function hasLeftovers(handle: Handle, entry: Entry | undefined, look: FilesOnDisk): boolean {
  return entry?.kind === 'held' && leftoversOf(handle, entry.version.manifest, look).length > 0;
}

/** Nothing was begun and not finished. */
export function isConsistent(finding: HandleState, { pending, manifest, tombstone }: HandleRecords): boolean {
  switch (finding.kind) {
    case 'held':
      return pending === undefined && tombstone === undefined && finding.leftovers.length === 0;
    case 'gone':
    case 'absent':
      return pending === undefined && manifest === undefined;
    case 'outside':
    case 'half-dropped':
    case 'removed':
      return false;
    default:
      return finding satisfies never;
  }
}

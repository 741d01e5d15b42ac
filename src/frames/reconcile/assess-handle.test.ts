import { describe, expect, test } from 'vitest';
import { parseHandle } from '../../core/names/handle.ts';
import type { Manifest } from '../disk/manifest.ts';
import type { HandleRecords } from '../disk/manifest-files.ts';
import { type FileIdentity, justIdentity, type Part } from '../disk/part.ts';
import type { FilesOnDisk } from '../disk/tenant-directory.ts';
import type { Tombstone } from '../disk/tombstone.ts';
import { assessHandle, cutOffParts, type HandleState, isConsistent } from './assess-handle.ts';

const handle = parseHandle('x');

/** The bytes of a number have an inode of their own, under whichever name they lie. */
function part(file: string, bytes: number): Part {
  const identity = { file, ino: String(bytes), size: 100, mtimeNs: '1' };
  return { ...identity, checksum: `sha256:${bytes}`, rows: 1, uncompressedBytes: 10, final: true };
}
const inFile = (bytes: number): Part => part('x.parquet', bytes);
const inFolder = (number: number, bytes: number): Part => part(`x/00000${number}.parquet`, bytes);

function manifest(version: number, parts: readonly Part[], more: Partial<Manifest> = {}): Manifest {
  const common = { handle, versionId: `v${version}`, createdAt: 0, ttlMs: null, columns: [], replaces: [] };
  return { ...common, version, parts, ...more };
}
const tombstone = (version: number): Tombstone => ({ handle, version, reason: 'dropped', at: 0 });

const disk = (file: Part | undefined, ...folder: Part[]): FilesOnDisk => ({
  file: file && justIdentity(file),
  folder: folder.map(justIdentity),
});
const empty = disk(undefined);

const [a, b, c] = [inFile(1), inFile(2), inFile(3)];
const [a1, b2, c3, d4] = [inFolder(1, 1), inFolder(2, 2), inFolder(3, 3), inFolder(4, 4)];

const created = manifest(1, [a]);
const overwritten = manifest(2, [b]);
const firstAppend = manifest(2, [a1, b2], { replaces: [justIdentity(a)] });
const laterAppend = manifest(3, [a1, b2, c3], { replaces: [justIdentity(a)] });
const twoAppended = manifest(3, [a1, b2, c3, d4], { replaces: [justIdentity(a)], partsAdded: 2 });
const folderByFile = manifest(3, [c], { replaces: [a1, b2].map(justIdentity) });
const folderByFolder = manifest(3, [c3, d4], { replaces: [a1, b2].map(justIdentity), partsAdded: 2 });

function held(found: Manifest, more: Partial<Extract<HandleState, { kind: 'held' }>> = {}): HandleState {
  return { kind: 'held', manifest: found, wasPending: false, leftovers: [], ignoredFolder: false, ...more };
}
function outside(
  version: number,
  { file, folder }: FilesOnDisk,
  { manifest: previous, pending }: Partial<HandleRecords> = {},
): HandleState {
  const known = [...(pending?.parts ?? []), ...(previous?.parts ?? [])];
  const ignoredFolder = file !== undefined && folder.length > 0;
  return { kind: 'outside', files: file === undefined ? folder : [file], version, known, previous, ignoredFolder };
}
const halfDropped = (version: number, files: readonly FileIdentity[]): HandleState => ({
  kind: 'half-dropped',
  tombstone: tombstone(version),
  files,
});
const gone = (version: number): HandleState => ({ kind: 'gone', tombstone: tombstone(version) });

interface Row {
  readonly name: string;
  readonly look: FilesOnDisk;
  readonly records: Partial<HandleRecords>;
  readonly state: HandleState;
  /** Nothing is to be put in order on the disk. Default false. */
  readonly consistent?: boolean;
}

function assessed(title: string, rows: readonly Row[]): void {
  describe(title, () => {
    for (const { name, look, records, state, consistent = false } of rows) {
      test(name, () => {
        const found: HandleRecords = { manifest: undefined, pending: undefined, tombstone: undefined, ...records };
        expect(assessHandle(handle, look, found)).toEqual(state);
        expect(isConsistent(state, found)).toBe(consistent);
      });
    }
  });
}

assessed('a handle that nothing interrupted', [
  {
    name: 'a handle without files and records is absent',
    look: empty,
    records: {},
    state: { kind: 'absent' },
    consistent: true,
  },
  {
    name: 'a file that its manifest describes is held',
    look: disk(a),
    records: { manifest: created },
    state: held(created),
    consistent: true,
  },
  {
    name: 'a folder that its manifest describes is held',
    look: disk(undefined, a1, b2),
    records: { manifest: firstAppend },
    state: held(firstAppend),
    consistent: true,
  },
  {
    name: 'a frame that was dropped is gone',
    look: empty,
    records: { tombstone: tombstone(1) },
    state: gone(1),
    consistent: true,
  },
]);

assessed('a create that a crash cut off', [
  {
    name: 'a create whose file is not in place is undone',
    look: empty,
    records: { pending: created },
    state: { kind: 'absent' },
  },
  {
    name: 'a create whose file is in place is finished',
    look: disk(a),
    records: { pending: created },
    state: held(created, { wasPending: true }),
  },
  {
    name: 'a create after a drop is undone where its file is not in place',
    look: empty,
    records: { pending: overwritten, tombstone: tombstone(1) },
    state: gone(1),
  },
  {
    name: 'a create after a drop is finished where its file is in place',
    look: disk(b),
    records: { pending: overwritten, tombstone: tombstone(1) },
    state: held(overwritten, { wasPending: true }),
  },
  {
    name: 'a create after a drop is held, although the tombstone of the older version is still there',
    look: disk(b),
    records: { manifest: overwritten, tombstone: tombstone(1) },
    state: held(overwritten),
  },
]);

assessed('an overwrite that a crash cut off', [
  {
    name: 'an overwrite whose file is not in place leaves the version before it',
    look: disk(a),
    records: { manifest: created, pending: overwritten },
    state: held(created),
  },
  {
    name: 'an overwrite whose file is in place is finished',
    look: disk(b),
    records: { manifest: created, pending: overwritten },
    state: held(overwritten, { wasPending: true }),
  },
  {
    name: 'an overwrite whose pending record is lost is a file from outside, of the next version',
    look: disk(b),
    records: { manifest: created },
    state: outside(2, disk(b), { manifest: created }),
  },
  {
    name: 'an overwrite of a folder by a file is finished, and the old parts are left over',
    look: disk(c, a1, b2),
    records: { manifest: firstAppend, pending: folderByFile },
    state: held(folderByFile, { wasPending: true, leftovers: [a1, b2].map(justIdentity) }),
  },
  {
    name: 'an overwrite of a folder by a file that is committed leaves the old parts over',
    look: disk(c, b2),
    records: { manifest: folderByFile },
    state: held(folderByFile, { leftovers: [justIdentity(b2)] }),
  },
  {
    name: 'an overwrite of a folder by a file leaves the folder where the file is not in place',
    look: disk(undefined, a1, b2),
    records: { manifest: firstAppend, pending: folderByFile },
    state: held(firstAppend),
  },
  {
    name: 'an overwrite of a folder by several parts is finished where all of them are in place',
    look: disk(undefined, a1, b2, c3, d4),
    records: { manifest: firstAppend, pending: folderByFolder },
    state: held(folderByFolder, { wasPending: true, leftovers: [a1, b2].map(justIdentity) }),
  },
]);

assessed('an append that a crash cut off', [
  {
    name: 'a first append whose folder is not in place leaves the file',
    look: disk(a),
    records: { manifest: created, pending: firstAppend },
    state: held(created),
  },
  {
    name: 'a first append whose folder is in place beside the file is finished',
    look: disk(a, a1, b2),
    records: { manifest: created, pending: firstAppend },
    state: held(firstAppend, { wasPending: true, leftovers: [justIdentity(a)] }),
  },
  {
    name: 'a first append that is committed leaves over the file that became its first part',
    look: disk(a, a1, b2),
    records: { manifest: firstAppend },
    state: held(firstAppend, { leftovers: [justIdentity(a)] }),
  },
  {
    name: 'a first append whose pending record is lost is undone: the file is the frame, its folder is left over',
    look: disk(a, a1, b2),
    records: { manifest: created },
    state: held(created, { leftovers: [a1, b2].map(justIdentity) }),
  },
  {
    name: 'a folder of more parts than a first append has is none, even if its first part is the file',
    look: disk(a, a1, b2, c3),
    records: { manifest: created },
    state: held(created, { ignoredFolder: true }),
    consistent: true,
  },
  {
    name: 'a later append whose part is not in place leaves the version before it',
    look: disk(undefined, a1, b2),
    records: { manifest: firstAppend, pending: laterAppend },
    state: held(firstAppend),
  },
  {
    name: 'a later append whose part is in place is finished',
    look: disk(undefined, a1, b2, c3),
    records: { manifest: firstAppend, pending: laterAppend },
    state: held(laterAppend, { wasPending: true }),
  },
  {
    name: 'a later append whose pending record is lost is a part from outside',
    look: disk(undefined, a1, b2, c3),
    records: { manifest: firstAppend },
    state: outside(3, disk(undefined, a1, b2, c3), { manifest: firstAppend }),
  },
]);

assessed('a recompression that a crash cut off', [
  {
    name: 'a recompressed file that is in place is finished under the same version',
    look: disk(b),
    records: { manifest: created, pending: manifest(1, [b]) },
    state: held(manifest(1, [b]), { wasPending: true }),
  },
  {
    name: 'a recompressed part that is not in place leaves the part before it',
    look: disk(undefined, a1, b2),
    records: { manifest: firstAppend, pending: manifest(2, [a1, inFolder(2, 9)]) },
    state: held(firstAppend),
  },
  {
    name: 'a recompressed part that is in place is finished',
    look: disk(undefined, a1, inFolder(2, 9)),
    records: { manifest: firstAppend, pending: manifest(2, [a1, inFolder(2, 9)]) },
    state: held(manifest(2, [a1, inFolder(2, 9)]), { wasPending: true }),
  },
]);

const fourParts = manifest(3, [a1, b2, c3, d4]);
/** The middle two became one. */
const middle = inFolder(2, 9);
const mergedParts = manifest(3, [a1, middle, d4], { replaces: [justIdentity(c3)] });

assessed('a merge that a crash cut off', [
  {
    name: 'a merge whose file is not in place leaves the parts before it',
    look: disk(undefined, a1, b2, c3, d4),
    records: { manifest: fourParts, pending: mergedParts },
    state: held(fourParts),
  },
  {
    name: 'a merge whose file is in place is finished under the same version, and the other parts are left over',
    look: disk(undefined, a1, middle, c3, d4),
    records: { manifest: fourParts, pending: mergedParts },
    state: held(mergedParts, { wasPending: true, leftovers: [justIdentity(c3)] }),
  },
  {
    name: 'a merge that is committed leaves the other parts over',
    look: disk(undefined, a1, middle, c3, d4),
    records: { manifest: mergedParts },
    state: held(mergedParts, { leftovers: [justIdentity(c3)] }),
  },
  {
    name: 'a merge whose parts are removed, and whose record is pending, is finished',
    look: disk(undefined, a1, middle, d4),
    records: { manifest: fourParts, pending: mergedParts },
    state: held(mergedParts, { wasPending: true }),
  },
  {
    name: 'a merge whose other parts are removed is as it should be',
    look: disk(undefined, a1, middle, d4),
    records: { manifest: mergedParts },
    state: held(mergedParts),
    consistent: true,
  },
  {
    name: 'a part that was appended behind a merge is finished, and what the merge left stays left over',
    look: disk(undefined, a1, middle, c3, d4, inFolder(5, 5)),
    records: {
      manifest: mergedParts,
      pending: manifest(4, [a1, middle, d4, inFolder(5, 5)], { replaces: [justIdentity(c3)] }),
    },
    state: held(manifest(4, [a1, middle, d4, inFolder(5, 5)], { replaces: [justIdentity(c3)] }), {
      wasPending: true,
      leftovers: [justIdentity(c3)],
    }),
  },
  {
    name: 'a new file under the name of a part that was merged is none of those that are left over',
    look: disk(undefined, a1, middle, inFolder(3, 7), d4),
    records: { manifest: mergedParts },
    state: outside(4, disk(undefined, a1, middle, inFolder(3, 7), d4), { manifest: mergedParts }),
  },
  {
    name: 'a drop takes with it what a merge left',
    look: disk(undefined, a1, middle, c3, d4),
    records: { manifest: mergedParts, tombstone: tombstone(3) },
    state: halfDropped(3, [a1, middle, d4, justIdentity(c3)]),
  },
  {
    name: 'a drop is finished while only what a merge left is still there',
    look: disk(undefined, c3),
    records: { manifest: mergedParts, tombstone: tombstone(3) },
    state: halfDropped(3, [justIdentity(c3)]),
  },
]);

assessed('a drop that a crash cut off', [
  {
    name: 'a drop whose tombstone is written is finished while the file is still there',
    look: disk(a),
    records: { manifest: created, tombstone: tombstone(1) },
    state: halfDropped(1, [a]),
  },
  {
    name: 'a drop of several parts is finished while all of them are still there',
    look: disk(undefined, a1, b2),
    records: { manifest: firstAppend, tombstone: tombstone(2) },
    state: halfDropped(2, [a1, b2]),
  },
  {
    name: 'a drop of several parts is finished while one of them is still there',
    look: disk(undefined, b2),
    records: { manifest: firstAppend, tombstone: tombstone(2) },
    state: halfDropped(2, [justIdentity(b2)]),
  },
  {
    name: 'a drop whose files are removed is finished although its manifest is still there',
    look: empty,
    records: { manifest: created, tombstone: tombstone(1) },
    state: gone(1),
  },
  {
    name: 'a part that is left of the dropped frame is one from outside where a file of somebody else is beside it',
    look: disk(undefined, b2, inFolder(3, 9)),
    records: { manifest: firstAppend, tombstone: tombstone(2) },
    state: outside(3, disk(undefined, b2, inFolder(3, 9)), { manifest: firstAppend }),
  },
  {
    name: 'a file that is not of the dropped frame is one from outside',
    look: disk(b),
    records: { manifest: created, tombstone: tombstone(1) },
    state: outside(2, disk(b), { manifest: created }),
  },
]);

assessed('a change from outside', [
  {
    name: 'a file without records is one from outside',
    look: disk(a),
    records: {},
    state: outside(1, disk(a)),
  },
  {
    name: 'a file under the handle of a dropped frame has the version after it',
    look: disk(a),
    records: { tombstone: tombstone(4) },
    state: outside(5, disk(a)),
  },
  {
    name: 'a file that was changed in place is another version',
    look: { file: { ...justIdentity(a), mtimeNs: '2' }, folder: [] },
    records: { manifest: created },
    state: outside(2, { file: { ...justIdentity(a), mtimeNs: '2' }, folder: [] }, { manifest: created }),
  },
  {
    name: 'a file without records wins over a folder of its name, which is ignored',
    look: disk(a, c3),
    records: {},
    state: outside(1, disk(a, c3)),
  },
  {
    name: 'a file that is held wins over a folder of its name, which is ignored',
    look: disk(a, c3),
    records: { manifest: created },
    state: held(created, { ignoredFolder: true }),
    consistent: true,
  },
  {
    name: 'a file from outside wins over the folder that was held',
    look: disk(c, a1, b2),
    records: { manifest: firstAppend },
    state: outside(3, disk(c, a1, b2), { manifest: firstAppend }),
  },
  {
    name: 'a folder of which a part was taken away is another version',
    look: disk(undefined, a1),
    records: { manifest: firstAppend },
    state: outside(3, disk(undefined, a1), { manifest: firstAppend }),
  },
  {
    name: 'files that neither the manifest nor the pending record describes are known by the parts of both',
    look: disk(c),
    records: { manifest: created, pending: overwritten },
    state: outside(2, disk(c), { manifest: created, pending: overwritten }),
  },
  {
    name: 'a frame whose file was taken away is removed',
    look: empty,
    records: { manifest: created },
    state: { kind: 'removed', version: 1 },
  },
  {
    name: 'a frame that was put after a drop and then taken away is removed',
    look: empty,
    records: { manifest: overwritten, tombstone: tombstone(1) },
    state: { kind: 'removed', version: 2 },
  },
]);

describe('the parts that a put of several parts had moved into the folder when it was cut off', () => {
  const cutOff = (look: FilesOnDisk, records: Partial<HandleRecords>): FileIdentity[] =>
    cutOffParts(handle, look, { manifest: undefined, pending: undefined, tombstone: undefined, ...records });
  const records = { manifest: firstAppend, pending: twoAppended };

  test.each([
    ['none, where none was moved', disk(undefined, a1, b2), []],
    ['the first, where the second was not moved', disk(undefined, a1, b2, c3), [c3]],
    ['none, where all were moved: the put is finished', disk(undefined, a1, b2, c3, d4), []],
    ['none of a file of another identity under the same name', disk(undefined, a1, b2, inFolder(3, 9)), []],
  ])('are %s', (_, look, parts) => {
    expect(cutOff(look, records)).toEqual(parts.map(justIdentity));
  });

  test('are none where a put has one part', () => {
    expect(cutOff(disk(undefined, a1, b2), { manifest: firstAppend, pending: laterAppend })).toEqual([]);
  });

  test('are no parts that the manifest has too', () => {
    const pending = manifest(3, [a1, b2, c3], { partsAdded: 2 });
    expect(cutOff(disk(undefined, a1, b2), { manifest: firstAppend, pending })).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import { type DiskNeeds, judgeColdDirectory, judgeDataDirectory, judgeWrites } from './directories.ts';
import { type DirectoryFacts, fileSystemIn } from './directory-probe.ts';

const disk: DiskNeeds = { setting: 'storage.parquet_path', cacheBytes: 0, user: 'number 1000' };
const local: DirectoryFacts = {
  path: '/data/cold',
  state: 'there',
  base: '/data/cold',
  fileSystem: 'ext4',
  freeBytes: 100e9,
  totalBytes: 200e9,
  writeProblem: undefined,
  refused: new Map(),
  writesMs: [1, 2, 1],
  aheadMs: 0,
};

describe('the directory of the frames', () => {
  it('is ok on a local disk with room, also before it is made', () => {
    expect(judgeColdDirectory(local, disk)).toMatchObject({ level: 'ok' });
    const missing = judgeColdDirectory({ ...local, state: 'missing', base: '/data' }, disk);
    expect(missing).toMatchObject({ level: 'ok', found: expect.stringContaining('/data/cold can be made in /data') });
  });

  it.each([
    ['nfs4', 'note', 'network'],
    ['overlay', 'note', 'container'],
    ['fuse.sshfs', 'note', 'program'],
    ['tmpfs', 'warn', 'memory'],
  ])('on %s is a %s about the %s', (fileSystem, level, word) => {
    const found = judgeColdDirectory({ ...local, fileSystem }, disk);
    expect(found).toMatchObject({ level, meaning: expect.stringContaining(word) });
  });

  it('fails where the file system has no hard links, and says what does not work then', () => {
    const found = judgeColdDirectory(
      { ...local, fileSystem: 'fuse.s3fs', refused: new Map([['hardLinks', 'ENOTSUP']]) },
      disk,
    );
    expect(found).toMatchObject({ level: 'fail', meaning: 'new frames cannot be put' });
    expect(found.found).toContain('no hard links (ENOTSUP)');
  });

  it('is a warning where it is there and cannot be written, and fails where it cannot be made', () => {
    const refused = { ...local, writeProblem: 'EACCES' };
    expect(judgeColdDirectory(refused, disk)).toMatchObject({ level: 'warn', remedy: expect.stringContaining('1000') });
    expect(judgeColdDirectory({ ...refused, state: 'missing', base: '/' }, disk)).toMatchObject({ level: 'fail' });
    expect(judgeColdDirectory({ ...refused, state: 'unusable' }, disk)).toMatchObject({ level: 'fail' });
  });

  it('is a warning where the disk is almost full', () => {
    expect(judgeColdDirectory({ ...local, freeBytes: 1e9 }, disk)).toMatchObject({ level: 'warn' });
  });
});

it('a data directory with less room than the caches may take is a note', () => {
  expect(judgeDataDirectory(local, { ...disk, cacheBytes: 150e9 })).toMatchObject({ level: 'note' });
  expect(judgeDataDirectory(local, { ...disk, cacheBytes: 50e9 })).toMatchObject({ level: 'ok' });
});

describe('durable writes', () => {
  it.each([
    [[0.4, 0.5, 9], 'ok'],
    [[8, 9, 30], 'ok'],
    [[25, 30, 400], 'note'],
    [[150, 180, 900], 'warn'],
  ])('of %j ms are %s', (writesMs, level) => {
    expect(judgeWrites({ ...local, writesMs })).toMatchObject({ level });
  });

  it('are told by their median and their worst', () => {
    expect(judgeWrites({ ...local, writesMs: [3, 1, 50] })?.found).toContain('3.0 ms median, 50 ms worst of 3');
    expect(judgeWrites({ ...local, writesMs: [] })).toBeUndefined();
  });
});

describe('the file system of a path', () => {
  const mounts = [
    '22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw',
    '30 22 0:40 / /data rw - nfs4 server:/export rw',
    '31 22 0:41 / /data\\040disk rw - xfs /dev/sdb rw',
    '32 30 0:42 / /data/fast rw - ext4 /dev/sdc rw',
    '33 32 0:43 / /data/fast rw - tmpfs none rw',
  ].join('\n');

  it.each([
    ['/home/me', 'ext4'],
    ['/data', 'nfs4'],
    ['/data/cold', 'nfs4'],
    ['/database', 'ext4'],
    ['/data disk/cold', 'xfs'],
    ['/data/fast/cold', 'tmpfs'],
  ])('%s is %s', (path, type) => {
    expect(fileSystemIn(mounts, path)).toBe(type);
  });
});

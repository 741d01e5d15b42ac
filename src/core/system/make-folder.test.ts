import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { smallDisk } from '../../../test/faults/disk/small-disk.ts';
import { leftOutWithoutMount } from '../../../test/support/left-out.ts';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { makeFolder } from './make-folder.ts';

describe('makeFolder', () => {
  test.runIf(process.platform === 'linux')(
    'ends where the system has no folder to make and says that something is missing',
    async () => {
      await expect(makeFolder('/proc/framehold')).rejects.toThrow('ENOENT');
    },
  );

  test('makes what is missing, from the top down, and says what that was', async () => {
    await using directory = await temporaryDirectory();
    const [top, below] = [join(directory.path, 'a'), join(directory.path, 'a', 'b')];
    expect(await makeFolder(below)).toEqual([top, below]);
    expect(await makeFolder(below)).toEqual([]);
  });

  test('refuses where a file is in the way', async () => {
    await using directory = await temporaryDirectory();
    await writeFile(join(directory.path, 'a'), '');
    await expect(makeFolder(join(directory.path, 'a'))).rejects.toMatchObject({ code: 'EEXIST' });
    await expect(makeFolder(join(directory.path, 'a', 'b'))).rejects.toMatchObject({ code: 'ENOTDIR' });
  });

  test.skipIf(leftOutWithoutMount())('says of a full disk that it is full', async () => {
    await using disk = await smallDisk({ bytes: 1_000_000, files: 10 });
    await disk.leaveFiles(0);
    await expect(makeFolder(join(disk.path, 'new'))).rejects.toMatchObject({ code: 'ENOSPC' });
    await expect(makeFolder(join(disk.path, 'new', 'below'))).rejects.toMatchObject({ code: 'ENOSPC' });
  });
});

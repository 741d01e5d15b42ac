import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { cgroupLimits } from './cgroup.ts';

const none = { memoryBytes: undefined, processors: undefined, tasks: undefined };

async function limitsOf(files: Readonly<Record<string, string>>) {
  await using root = await temporaryDirectory();
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root.path, path)), { recursive: true });
    await writeFile(join(root.path, path), `${text}\n`);
  }
  return await cgroupLimits(root.path);
}

it('the limits of cgroup v2 are the smallest of a group and those above it', async () => {
  const limits = await limitsOf({
    'proc/self/cgroup': '0::/system.slice/framehold.service',
    'sys/fs/cgroup/system.slice/memory.max': '4000000000',
    'sys/fs/cgroup/system.slice/framehold.service/memory.max': '8000000000',
    'sys/fs/cgroup/system.slice/framehold.service/cpu.max': '150000 100000',
    'sys/fs/cgroup/system.slice/framehold.service/pids.max': '512',
  });
  expect(limits).toEqual({ memoryBytes: 4e9, processors: 1.5, tasks: 512 });
});

it('in a container the limits are those of the root that it sees, with v2 and with v1', async () => {
  expect(
    await limitsOf({
      'proc/self/cgroup': '0::/',
      'sys/fs/cgroup/memory.max': '2147483648',
      'sys/fs/cgroup/cpu.max': 'max 100000',
    }),
  ).toEqual({ ...none, memoryBytes: 2_147_483_648 });
  expect(
    await limitsOf({
      'proc/self/cgroup': '5:cpu,cpuacct:/docker/abc\n4:memory:/docker/abc\n0::/',
      'sys/fs/cgroup/memory/memory.limit_in_bytes': '1073741824',
      'sys/fs/cgroup/cpu/cpu.cfs_quota_us': '200000',
      'sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000',
    }),
  ).toEqual({ ...none, memoryBytes: 1_073_741_824, processors: 2 });
});

it('no limit is none, however it is written, also where there are no groups', async () => {
  expect(
    await limitsOf({
      'proc/self/cgroup': '4:memory:/a\n3:cpu:/a\n0::/a',
      'sys/fs/cgroup/memory/a/memory.limit_in_bytes': '9223372036854771712',
      'sys/fs/cgroup/cpu/a/cpu.cfs_quota_us': '-1',
      'sys/fs/cgroup/cpu/a/cpu.cfs_period_us': '100000',
      'sys/fs/cgroup/a/memory.max': 'max',
      'sys/fs/cgroup/a/pids.max': 'max',
    }),
  ).toEqual(none);
  expect(await limitsOf({})).toEqual(none);
});

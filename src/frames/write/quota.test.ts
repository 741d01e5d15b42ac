import { expect, test } from 'vitest';
import type { TenantState } from '../catalog/tenant-state.ts';
import { UploadDisk } from '../disk/upload-disk.ts';
import type { Scanner } from '../reconcile/scanner.ts';
import { Quota } from './quota.ts';

test('what comes of an upload that is over takes nothing any more', async () => {
  const uploadDisk = new UploadDisk(async () => ({ freeBytes: 1e9, totalBytes: 1e9 }));
  const context = { uploadDisk, limitsOf: async () => ({ maxBytes: 1 }) };
  const quota = new Quota({ context, directory: { tenant: 'desk' } } as unknown as TenantState, {} as Scanner);
  async function* stream() {
    yield Buffer.alloc(15_000_000);
    yield Buffer.alloc(15_000_000);
  }
  // Part of the 64 MB that uploads of a small tenant may take.
  for (let upload = 0; upload < 3; upload++) {
    const arrival = await quota.arrival('desk');
    const pieces = arrival.counted(stream());
    await pieces.next();
    arrival[Symbol.dispose]();
    // The writer of the rows has read them before they failed.
    await pieces.next().catch(() => {});
    await pieces.return();
  }
  expect(uploadDisk.figures.held).toBe(0);
  using next = await quota.arrival('desk');
  let came = 0;
  for await (const { length } of next.counted(stream())) came += length;
  expect(came).toBe(30_000_000);
});

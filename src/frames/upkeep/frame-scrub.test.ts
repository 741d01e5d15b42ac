import { expect, test } from 'vitest';
import type { TenantState } from '../catalog/tenant-state.ts';
import type { Reconciler } from '../reconcile/reconciler.ts';
import { FrameScrub } from './frame-scrub.ts';
import { UncachedReader } from './uncached-reader.ts';
import type { Verification } from './verification.ts';

test('a frame that cannot be read keeps no other from being looked at', async () => {
  const files = { a: 'a'.repeat(300), b: 'b.parquet' };
  const catalog = new Map(
    Object.entries(files).map(([handle, file]) => [
      handle,
      { kind: 'held', version: { manifest: { parts: [{ file, checksum: null }] } } },
    ]),
  );
  const state = { catalog, directory: { path: (file: string) => `/${file}` } };
  const reconciled: string[] = [];
  const failed: unknown[] = [];
  const scrub = new FrameScrub(
    state as unknown as TenantState,
    { reconcile: async (handle: string) => void reconciled.push(handle) } as unknown as Reconciler,
    {} as Verification,
  );
  await scrub.run({
    reader: new UncachedReader(),
    beforeBlock: async () => {},
    onFailure: (handle, error) => failed.push([handle, (error as NodeJS.ErrnoException).code]),
    signal: new AbortController().signal,
  });
  expect(failed).toEqual([['a', 'ENAMETOOLONG']]);
  expect(reconciled).toEqual(['b']);
});

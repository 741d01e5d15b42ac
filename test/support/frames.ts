import { anonymous } from '../../src/auth/identify.ts';
import { parseHandle } from '../../src/core/names/handle.ts';
import type { FrameStore } from '../../src/frames/store.ts';

/** Holds the rows of an SQL text under a handle. */
export async function putSql(
  frames: FrameStore,
  handle: string,
  sql: string,
  options: { mode?: 'create' | 'append' | 'overwrite'; ttlMs?: number } = {},
): Promise<void> {
  const { mode = 'create', ttlMs } = options;
  await frames.put(
    anonymous,
    { handle: parseHandle(handle), mode, source: { kind: 'sql', sql }, ...(ttlMs !== undefined && { ttlMs }) },
    { signal: new AbortController().signal },
  );
}

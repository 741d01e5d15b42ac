import { defaultTenant, type Principal } from '../core/callers/principal.ts';
import { AppError } from '../core/errors/app-error.ts';
import type { Logger } from '../core/logs/logger.ts';
import { type Handle, parseHandle } from '../core/names/handle.ts';
import type { Frames } from '../frames/frames.ts';
import { demoFrames } from './demo-frames.ts';

const owner: Principal = { tenant: defaultTenant, name: 'demo', role: 'write', credential: 'none' };

/** Puts the demo frames, once: a handle that is taken, also by a user's own frame, stays as it is, and a dropped one stays gone. */
export async function makeDemoFrames(frames: Frames, logger: Logger, options: { signal: AbortSignal }): Promise<void> {
  await Promise.all(
    demoFrames.map(async ({ handle, sql }) => {
      try {
        if (await wasDropped(frames, parseHandle(handle), options)) return;
        const source = { kind: 'sql', sql } as const;
        const held = await frames.put(owner, { handle: parseHandle(handle), mode: 'create', source }, options);
        logger.info('made a demo frame', { handle, rows: held.rows });
      } catch (error) {
        if (!(error instanceof AppError && error.code === 'handle_exists')) throw error;
      }
    }),
  );
}

async function wasDropped(frames: Frames, handle: Handle, options: { signal: AbortSignal }): Promise<boolean> {
  try {
    await frames.describe(owner, handle, options);
    return false;
  } catch (error) {
    return error instanceof AppError && error.code === 'handle_gone';
  }
}

import type { FrameAppender } from './frame-appender.ts';
import type { Quota } from './quota.ts';
import type { LockParts } from './under-lock.ts';

/** What the writes of a tenant's frames work with. */
export interface WriteParts extends LockParts {
  readonly quota: Quota;
  readonly appender: FrameAppender;
}

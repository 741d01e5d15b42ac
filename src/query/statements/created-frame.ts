import { generateHandle, type Handle } from '../../core/names/handle.ts';
import type { TableName } from '../../core/sql/sql.ts';
import type { StatementRun } from '../statement-run.ts';
import { targetFrame } from '../tables/target-frame.ts';
import { ofSession, temporaryExists, temporaryHandle, temporaryTtlMs } from '../tables/temporary-tables.ts';
import { dropTemporary } from './drop.ts';

interface CreateStatement {
  readonly table: TableName;
  readonly ifTaken: 'fail' | 'replace' | 'keep';
  readonly isTemporary?: boolean | undefined;
}

/** The frame that CREATE makes. */
export interface CreatedFrame {
  /** Of a frame of the session: one of its own, which the session finds by the name. */
  readonly handle: Handle;
  /** Set for a frame of the session. */
  readonly ttlMs: number | undefined;
  /** The frame of the session that it replaces. */
  readonly replaced: Handle | undefined;
  /** Once it is made: shows it to the session, and drops the one that it replaces. */
  finish(): Promise<void>;
}

/** Undefined: the one that is there stays. A frame of the session must not be there for `fail`; others are looked for when it is made. */
export async function createdFrame(
  call: StatementRun,
  { table, ifTaken, isTemporary }: CreateStatement,
  what: 'TABLE' | 'VIEW',
): Promise<CreatedFrame | undefined> {
  const session = isTemporary ? ofSession(call.options.temporary, what, table) : undefined;
  const replaced = temporaryHandle(session, table);
  const { handle, isHeld } = session
    ? { handle: generateHandle(), isHeld: replaced !== undefined }
    : await targetFrame(call, table);
  if (ifTaken === 'keep' && isHeld) return undefined;
  if (ifTaken === 'fail' && replaced !== undefined) throw temporaryExists(table);
  return {
    handle,
    ttlMs: session && temporaryTtlMs,
    replaced,
    async finish() {
      session?.set(table.name, handle);
      if (replaced !== undefined) await dropTemporary(call, replaced);
    },
  };
}

import type { Handle } from '../../core/names/handle.ts';
import { parseChecksummed, withChecksum } from './checksummed-json.ts';

/** Remembers that a handle was held once, so that `handle_gone` differs from `handle_not_found`. */
export interface Tombstone {
  readonly handle: Handle;
  /** The last version that was held. */
  readonly version: number;
  readonly reason: 'dropped' | 'expired' | 'removed';
  readonly at: number;
}

const format = 1;

export function encodeTombstone(tombstone: Tombstone): string {
  return withChecksum({ format, ...tombstone });
}

export function parseTombstone(text: string, handle: Handle): Tombstone | undefined {
  const value = parseChecksummed(text) as ({ readonly format: unknown } & Tombstone) | undefined;
  if (value?.format !== format || value.handle !== handle) return undefined;
  const { format: _, ...tombstone } = value;
  return tombstone;
}

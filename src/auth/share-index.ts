import { AppError } from '../core/app-error.ts';
import { type SharedName, sharedName } from '../core/frame-name.ts';
import { type Handle, isHandle } from '../core/handle.ts';
import { isTenant, type Tenant } from '../core/principal.ts';

/** A frame that its owner lets another tenant read. */
export interface Share {
  readonly owner: Tenant;
  readonly handle: Handle;
  readonly reader: Tenant;
}

/** Shares by the two that are asked for: a request costs the same however many there are of others. */
export interface SharesIndex {
  /** Those that it was made of. */
  readonly names: ReadonlySet<string>;
  readonly byReader: ReadonlyMap<Tenant, readonly Share[]>;
  readonly byFrame: ReadonlyMap<SharedName, readonly Share[]>;
}

/** `+` stands in neither names of tenants nor handles. */
export function shareName({ owner, handle, reader }: Share): string {
  return `${owner}+${handle}+${reader}`;
}

/** Names of files have 255 bytes at most, with the ending of the record. */
const longestShareName = 250;

/** Refuses the longest handles between tenants with the longest names. */
export function assertShareable(share: Share): void {
  const { length } = shareName(share);
  if (length <= longestShareName) return;
  throw new AppError(
    'invalid_parameter',
    `the handle and the names of both tenants have ${length - 2} characters together; a share has at most ${longestShareName - 2}`,
    { hint: 'share a frame with a shorter handle' },
  );
}

function parseShareName(name: string): Share | undefined {
  const [owner = '', handle = '', reader = ''] = name.split('+');
  return isTenant(owner) && isHandle(handle) && isTenant(reader) ? { owner, handle, reader } : undefined;
}

export function parseShares(names: Iterable<string>): Share[] {
  return [...names].flatMap((name) => parseShareName(name) ?? []);
}

export function indexShares(names: ReadonlySet<string>): SharesIndex {
  const byReader = new Map<Tenant, Share[]>();
  const byFrame = new Map<SharedName, Share[]>();
  for (const share of parseShares(names)) {
    listIn(byReader, share.reader).push(share);
    listIn(byFrame, sharedName(share.owner, share.handle)).push(share);
  }
  return { names, byReader, byFrame };
}

function listIn<Key>(lists: Map<Key, Share[]>, key: Key): Share[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}

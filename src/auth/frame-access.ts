import { AppError } from '../core/app-error.ts';
import type { Column } from '../core/data-type.ts';
import { type FrameName, isSharedName, sharedName, splitSharedName } from '../core/frame-name.ts';
import { type Handle, parseHandle } from '../core/handle.ts';
import { LruMap } from '../core/lru-map.ts';
import type { Principal } from '../core/principal.ts';
import { handleNotFound } from '../frames/catalog/frame-errors.ts';
import type { FrameSummary } from '../frames/catalog/frame-summary.ts';
import type { Frames, ListOptions } from '../frames/frames.ts';
import type { AccessRecords } from './access-records.ts';
import { assertMay, isWithin } from './rights.ts';
import type { Share } from './share-records.ts';
import { SharedFrameWatch } from './shared-frame-watch.ts';
import { refuseSavedView } from './shared-views.ts';

/** For what is too short to be stopped. */
const unstopped = new AbortController().signal;

/** A frame as the store knows it. */
interface StoredFrame {
  /** Of the owner's tenant. */
  readonly principal: Principal;
  readonly handle: Handle;
  /** Of the frame that is shared. */
  readonly origin?: string | undefined;
}

/**
 * The frames as a principal may see and change them: its tenant's own, and by `owner/handle` those that are shared with it, to
 * read. Each right is checked before anything is looked up. A frame that is not shared is not there, whatever the reason.
 */
export class FrameAccess implements Frames {
  readonly #frames: Frames<Handle>;
  readonly #records: AccessRecords | undefined;
  /** By reader and name: the version that was last found to be of the origin that is shared. */
  readonly #peeked = new LruMap<string>();

  /** Without records there is one tenant, and nothing is shared. */
  constructor(frames: Frames<Handle>, records?: AccessRecords) {
    this.#frames = frames;
    this.#records = records;
  }

  readonly read: Frames['read'] = async (principal, request, { signal, lane }) =>
    this.#reading(principal, request.handle, async (frame) => {
      const { handle, origin } = frame;
      const rows = await this.#frames.read(frame.principal, { ...request, handle }, { signal, lane, origin });
      if (origin !== undefined && rows.versionId !== undefined)
        this.#peeked.set(peekKey(principal, request.handle), rows.versionId);
      return rows;
    });

  peek(principal: Principal, name: FrameName): string | undefined {
    const found = this.#find(principal, name);
    assertMay(principal, 'readFrames', nameOf(found));
    if (typeof found === 'string') return this.#frames.peek(principal, found);
    const known = this.#peeked.get(peekKey(principal, name));
    if (known === undefined || this.#records?.shares.has(found) !== true) return undefined;
    const versionId = this.#frames.peek(asOwner(principal, found), found.handle);
    return versionId === known ? versionId : undefined;
  }

  readonly open: Frames['open'] = async (principal, name, { signal }) =>
    this.#reading(principal, name, (frame) =>
      this.#frames.open(frame.principal, frame.handle, { signal, origin: frame.origin }),
    );

  readonly openParts: Frames['openParts'] = async (principal, selection, { signal }) =>
    this.#reading(principal, selection.handle, (frame) => {
      const { handle, origin } = frame;
      return this.#frames.openParts(frame.principal, { ...selection, handle }, { signal, origin });
    });

  readonly describe: Frames['describe'] = async (principal, name, { signal }) =>
    this.#reading(principal, name, async ({ handle, origin, ...frame }) => {
      const summary = await this.#frames.describe(frame.principal, handle, { signal, origin });
      return origin === undefined ? summary : { ...summary, handle: name };
    });

  async *list(principal: Principal, options: ListOptions = {}): AsyncGenerator<FrameSummary> {
    assertMay(principal, 'readFrames');
    const { whose } = options;
    const shared = whose === 'own' ? [] : this.#sharedNames(principal, options).reverse();
    if (whose !== 'shared') {
      for await (const frame of this.#frames.list(principal, options)) {
        for (let name = shared.at(-1); name !== undefined && name < frame.handle; name = shared.at(-1)) {
          shared.pop();
          yield* this.#listShared(principal, name);
        }
        if (isWithin(principal, frame.handle)) yield frame;
      }
    }
    for (const name of shared.reverse()) yield* this.#listShared(principal, name);
  }

  readonly watch: Frames['watch'] = async (principal, name, wake, options) =>
    this.#reading(principal, name, async (frame) => {
      const watch = await this.#frames.watch(frame.principal, frame.handle, wake, options);
      if (frame.origin === undefined) return watch;
      // The share may end, too.
      const stop = this.#records?.onChange(wake);
      return {
        [Symbol.dispose]: () => {
          stop?.();
          watch[Symbol.dispose]();
        },
      };
    });

  readonly watchAll: Frames['watchAll'] = async (principal, tell, options) => {
    assertMay(principal, 'readFrames');
    const own = await this.#frames.watchAll(
      principal,
      (change) => {
        if (isWithin(principal, change.handle)) tell(change);
      },
      options,
    );
    if (this.#records === undefined) return own;
    const describe = (name: FrameName): Promise<FrameSummary> => this.describe(principal, name, { signal: unstopped });
    const shared = new SharedFrameWatch({ frames: this.#frames, records: this.#records, describe, principal, tell });
    await shared.start(options);
    return {
      [Symbol.dispose]: () => {
        own[Symbol.dispose]();
        shared[Symbol.dispose]();
      },
    };
  };

  readonly put: Frames['put'] = async (principal, { handle: name, ...request }, options) => {
    const handle = await this.#putTarget(principal, name);
    return this.#frames.put(principal, { ...request, handle }, options);
  };

  readonly redefine: Frames['redefine'] = async (principal, { handle: name, ...request }) =>
    this.#frames.redefine(principal, { ...request, handle: await this.#writable(principal, name) });

  readonly saveView: Frames['saveView'] = async (principal, { handle: name, ...request }, options) => {
    const handle = await this.#writable(principal, name);
    if (this.#records !== undefined)
      await refuseSavedView(this.#frames, this.#records, principal, { handle, reads: request.view.reads });
    return this.#frames.saveView(principal, { ...request, handle }, options);
  };

  readonly definitions: Frames['definitions'] = async (principal) => {
    assertMay(principal, 'readFrames');
    const all = await this.#frames.definitions(principal);
    return principal.prefix === undefined ? all : all.filter(({ name }) => isWithin(principal, name));
  };

  readonly define: Frames['define'] = async (principal, definition, ifTaken) => {
    assertMay(principal, 'writeFrames', definition.name as Handle);
    return this.#frames.define(principal, definition, ifTaken);
  };

  readonly undefine: Frames['undefine'] = async (principal, definition) => {
    assertMay(principal, 'writeFrames', definition.name as Handle);
    return this.#frames.undefine(principal, definition);
  };

  appendColumns(principal: Principal, name: FrameName): readonly Column[] | undefined {
    const found = this.#find(principal, name);
    assertMay(principal, 'writeFrames', nameOf(found));
    return typeof found === 'string' ? this.#frames.appendColumns(principal, found) : undefined;
  }

  assertMayWrite(principal: Principal): void {
    assertMay(principal, 'writeFrames');
  }

  readonly refusePut: Frames['refusePut'] = async (principal, { handle: name, mode }) => {
    await this.#frames.refusePut(principal, { handle: await this.#putTarget(principal, name), mode });
  };

  readonly change: Frames['change'] = async (principal, { handle: name, ...request }, options) =>
    this.#frames.change(principal, { ...request, handle: await this.#writable(principal, name) }, options);

  readonly use: Frames['use'] = (principal) => this.#frames.use(principal);

  readonly drop: Frames['drop'] = async (principal, name, options) =>
    this.#frames.drop(principal, await this.#writable(principal, name), options);

  readonly flush: Frames['flush'] = async (principal, name) =>
    this.#frames.flush(principal, await this.#writable(principal, name));

  readonly renew: Frames['renew'] = async (principal, name, ttlMs) =>
    this.#frames.renew(principal, await this.#writable(principal, name), ttlMs);

  readonly temporaryFile: Frames['temporaryFile'] = (...call) => this.#frames.temporaryFile(...call);

  readonly incomingFolder: Frames['incomingFolder'] = (principal) => this.#frames.incomingFolder(principal);

  readonly writeParquet: Frames['writeParquet'] = (principal, request, options) =>
    this.#frames.writeParquet(principal, request, options);

  readonly preview: Frames['preview'] = async (principal, request, options) => {
    assertMay(principal, 'writeFrames');
    return this.#frames.preview(principal, request, options);
  };

  /** One's own by its handle, another tenant's by the share that there would be. */
  #find({ tenant }: Principal, name: FrameName): Handle | Share {
    if (!isSharedName(name)) return name;
    if (this.#records === undefined) return parseHandle(name);
    const { owner, handle } = splitSharedName(name);
    return owner === tenant ? handle : { owner, handle, reader: tenant };
  }

  /** In order; also those whose frames are gone. */
  #sharedNames(principal: Principal, { prefix = '', after = '' }: ListOptions): FrameName[] {
    const shares = this.#records?.shares.withReader(principal.tenant) ?? [];
    return shares
      .map(nameOf)
      .filter((name) => name.startsWith(prefix) && name > after && isWithin(principal, name))
      .sort();
  }

  async *#listShared(principal: Principal, name: FrameName): AsyncGenerator<FrameSummary> {
    try {
      yield await this.describe(principal, name, { signal: unstopped });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  async #reading<T>(principal: Principal, name: FrameName, act: (frame: StoredFrame) => Promise<T>): Promise<T> {
    const found = this.#find(principal, name);
    assertMay(principal, 'readFrames', nameOf(found));
    if (typeof found === 'string') return act({ principal, handle: found });
    const origin = await this.#records?.shares.originOf(found);
    if (origin === undefined) throw handleNotFound(name);
    try {
      return await act({ principal: asOwner(principal, found), handle: found.handle, origin });
    } catch (error) {
      throw isNotFound(error) ? handleNotFound(name) : error;
    }
  }

  /** The handle of a frame of one's own. One that others share is refused (`forbidden`). */
  async #writable(principal: Principal, name: FrameName): Promise<Handle> {
    const found = this.#find(principal, name);
    assertMay(principal, 'writeFrames', nameOf(found));
    if (typeof found === 'string') return found;
    await this.describe(principal, name, { signal: unstopped });
    throw onlyOwnerChanges(name);
  }

  /** Undefined where the server is to choose the handle, which would lie outside of every prefix. */
  async #putTarget(principal: Principal, name: FrameName | undefined): Promise<Handle | undefined> {
    if (name !== undefined) return this.#writable(principal, name);
    assertMay(principal, 'writeFrames', '' as Handle);
    return undefined;
  }
}

export function onlyOwnerChanges(name: FrameName): AppError {
  return new AppError('forbidden', `${name} is shared with you to be read: only its owner changes it`, {
    hint: 'keep a copy under a handle of your own',
  });
}

function isNotFound(error: unknown): boolean {
  return error instanceof AppError && error.code === 'handle_not_found';
}

/** What a token's prefix is held against. */
function nameOf(found: Handle | Share): FrameName {
  return typeof found === 'string' ? found : sharedName(found.owner, found.handle);
}

/** The reader still, but where the owner's frames are. */
function asOwner(principal: Principal, { owner }: Share): Principal {
  return { ...principal, tenant: owner };
}

function peekKey({ tenant }: Principal, name: FrameName): string {
  return `${tenant} ${name}`;
}

import type { Principal } from '../core/callers/principal.ts';
import { AppError } from '../core/errors/app-error.ts';
import type { FrameDeed, FrameNote } from '../core/logs/request-notes.ts';
import { type FrameName, isSharedName, sharedName, splitSharedName } from '../core/names/frame-name.ts';
import { type Handle, parseHandle } from '../core/names/handle.ts';
import type { Definition } from '../core/sql/definition.ts';
import { LruMap } from '../core/system/lru-map.ts';
import type { FrameChange } from '../frames/catalog/frame-changes.ts';
import { handleNotFound } from '../frames/catalog/frame-errors.ts';
import type { FrameSummary, HeldSummary } from '../frames/catalog/frame-summary.ts';
import type { Frames, ListOptions } from '../frames/frames.ts';
import type { PutRequest } from '../frames/write/put-frame.ts';
import type { AccessRecords } from './access-records.ts';
import { type Action, assertMay, isWithin } from './rights.ts';
import type { Share } from './share-records.ts';
import { SharedFrameWatch } from './shared-frame-watch.ts';
import { refuseSavedView } from './shared-views.ts';

/** The condition of an operation, and its trace. */
interface Rule {
  /** Default: every caller has it. */
  readonly right?: Action;
  /** Its name in the audit, with the frame. Default: it is not noted. */
  readonly deed?: FrameDeed;
}

/** Where rights and the audit of frames are decided. Operations that have a mode are noted under that. */
const rules: Readonly<Record<keyof Frames, Rule>> = {
  peek: { right: 'readFrames', deed: 'read' },
  read: { right: 'readFrames', deed: 'read' },
  open: { right: 'readFrames', deed: 'read' },
  openParts: { right: 'readFrames', deed: 'read' },
  watch: { right: 'readFrames', deed: 'read' },
  describe: { right: 'readFrames', deed: 'describe' },
  list: { right: 'readFrames' },
  watchAll: { right: 'readFrames' },
  definitions: { right: 'readFrames' },
  refusePut: { right: 'writeFrames', deed: 'create' },
  put: { right: 'writeFrames', deed: 'create' },
  saveView: { right: 'writeFrames', deed: 'create' },
  change: { right: 'writeFrames', deed: 'change' },
  redefine: { right: 'writeFrames', deed: 'alter' },
  drop: { right: 'writeFrames', deed: 'drop' },
  renew: { right: 'writeFrames', deed: 'renew' },
  flush: { right: 'writeFrames', deed: 'flush' },
  define: { right: 'writeFrames' },
  undefine: { right: 'writeFrames' },
  assertMayWrite: { right: 'writeFrames' },
  appendColumns: { right: 'writeFrames' },
  preview: { right: 'writeFrames' },
  use: {},
  temporaryFile: {},
  incomingFolder: {},
  writeParquet: {},
};

type Operation = keyof typeof rules;

/** For work too short to be stopped. */
const unstopped = new AbortController().signal;

/** A frame as the store knows it. */
interface StoredFrame {
  /** The principal in the owner's tenant. */
  readonly principal: Principal;
  readonly handle: Handle;
  /** Origin of the shared frame. */
  readonly origin?: string | undefined;
}

/** What the audit notes of a result. */
interface Noted {
  readonly version?: number;
  /** Number of rows that were read. */
  readonly count?: number;
}

/**
 * The frames as a principal may see and change them: its tenant's own, and by `owner/handle` those that are shared with it, to
 * read. Each right is checked before any lookup, and each operation noted before that: the audit has refused ones, too. A frame that
 * is not shared does not exist, for any reason. The operations are properties, so that `viewFrames` can copy them.
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

  readonly read: Frames['read'] = (principal, request, { signal, lane }) =>
    this.#reading('read', principal, request.handle, async (frame) => {
      const { handle, origin } = frame;
      const rows = await this.#frames.read(frame.principal, { ...request, handle }, { signal, lane, origin });
      if (origin !== undefined && rows.versionId !== undefined)
        this.#peeked.set(peekKey(principal, request.handle), rows.versionId);
      return rows;
    });

  readonly peek: Frames['peek'] = (principal, name) => {
    const { found } = this.#begin('peek', principal, name);
    if (typeof found === 'string') return this.#frames.peek(principal, found);
    const known = this.#peeked.get(peekKey(principal, name));
    if (known === undefined || this.#records?.shares.has(found) !== true) return undefined;
    const versionId = this.#frames.peek(asOwner(principal, found), found.handle);
    return versionId === known ? versionId : undefined;
  };

  readonly open: Frames['open'] = (principal, name, { signal }) =>
    this.#reading('open', principal, name, (frame) =>
      this.#frames.open(frame.principal, frame.handle, { signal, origin: frame.origin }),
    );

  readonly openParts: Frames['openParts'] = (principal, selection, { signal }) =>
    this.#reading('openParts', principal, selection.handle, (frame) => {
      const { handle, origin } = frame;
      return this.#frames.openParts(frame.principal, { ...selection, handle }, { signal, origin });
    });

  readonly describe: Frames['describe'] = (principal, name, { signal }) =>
    this.#reading('describe', principal, name, (frame) => this.#summary(frame, name, signal));

  readonly list: Frames['list'] = (principal, options = {}) => this.#list(principal, options);

  readonly watch: Frames['watch'] = (principal, name, wake, options) =>
    this.#reading('watch', principal, name, async (frame) => {
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
    assertRight('watchAll', principal);
    const tellOwn = (change: FrameChange<Handle>): void => {
      if (isWithin(principal, change.handle)) tell(change);
    };
    const own = await this.#frames.watchAll(principal, tellOwn, options);
    if (this.#records === undefined) return own;
    const describe = (name: FrameName): Promise<FrameSummary> =>
      this.#reading('watchAll', principal, name, (frame) => this.#summary(frame, name));
    const shared = new SharedFrameWatch({ frames: this.#frames, records: this.#records, describe, principal, tell });
    await shared.start(options);
    return {
      [Symbol.dispose]: () => {
        own[Symbol.dispose]();
        shared[Symbol.dispose]();
      },
    };
  };

  readonly put: Frames['put'] = async (principal, request, options) => {
    const { notes } = principal;
    const { note, handle } = await this.#putTarget('put', principal, request);
    const held = await this.#frames.put(principal, { ...request, handle }, options);
    if (notes === undefined) return held;
    (note ?? notes.frame(held.handle, request.mode)).version = held.version;
    notes.addRows(held.rowsPut);
    notes.addBytes(held.bytes);
    notes.changed();
    return held;
  };

  readonly refusePut: Frames['refusePut'] = async (principal, request) => {
    const { handle } = await this.#putTarget('refusePut', principal, request);
    await this.#frames.refusePut(principal, { handle, mode: request.mode });
  };

  readonly saveView: Frames['saveView'] = (principal, { handle: name, ...request }, options) => {
    const save = async (handle: Handle): Promise<HeldSummary> => {
      if (this.#records !== undefined)
        await refuseSavedView(this.#frames, this.#records, principal, { handle, reads: request.view.reads });
      return this.#frames.saveView(principal, { ...request, handle }, options);
    };
    return this.#writing('saveView', principal, name, save, request.ifTaken === 'replace' ? 'overwrite' : 'create');
  };

  readonly redefine: Frames['redefine'] = (principal, request) =>
    this.#writing('redefine', principal, request.handle, (handle) =>
      this.#frames.redefine(principal, { ...request, handle }),
    );

  readonly change: Frames['change'] = (principal, request, options) =>
    this.#writing('change', principal, request.handle, (handle) =>
      this.#frames.change(principal, { ...request, handle }, options),
    );

  readonly drop: Frames['drop'] = async (principal, name, options) => {
    const { version } = await this.#writing('drop', principal, name, async (handle) => ({
      version: await this.#frames.drop(principal, handle, options),
    }));
    return version;
  };

  readonly flush: Frames['flush'] = (principal, name) =>
    this.#writing('flush', principal, name, (handle) => this.#frames.flush(principal, handle));

  readonly renew: Frames['renew'] = (principal, name, ttlMs) =>
    this.#writing('renew', principal, name, (handle) => this.#frames.renew(principal, handle, ttlMs));

  readonly definitions: Frames['definitions'] = async (principal) => {
    assertRight('definitions', principal);
    const all = await this.#frames.definitions(principal);
    return principal.prefix === undefined ? all : all.filter(({ name }) => isWithin(principal, name));
  };

  readonly define: Frames['define'] = (principal, definition, ifTaken) =>
    this.#defining('define', principal, definition, () => this.#frames.define(principal, definition, ifTaken));

  readonly undefine: Frames['undefine'] = (principal, definition) =>
    this.#defining('undefine', principal, definition, () => this.#frames.undefine(principal, definition));

  readonly appendColumns: Frames['appendColumns'] = (principal, name) => {
    const { found } = this.#begin('appendColumns', principal, name);
    return typeof found === 'string' ? this.#frames.appendColumns(principal, found) : undefined;
  };

  readonly assertMayWrite: Frames['assertMayWrite'] = (principal) => assertRight('assertMayWrite', principal);

  readonly preview: Frames['preview'] = async (principal, ...call) => {
    assertRight('preview', principal);
    return this.#frames.preview(principal, ...call);
  };

  readonly use: Frames['use'] = (principal) => this.#frames.use(principal);
  readonly temporaryFile: Frames['temporaryFile'] = (...call) => this.#frames.temporaryFile(...call);
  readonly incomingFolder: Frames['incomingFolder'] = (principal) => this.#frames.incomingFolder(principal);
  readonly writeParquet: Frames['writeParquet'] = (...call) => this.#frames.writeParquet(...call);

  /** Notes the operation, then finds whose frame it is of, and checks the right to it. */
  #begin(operation: Operation, principal: Principal, name: FrameName, deed = rules[operation].deed) {
    const note = deed && principal.notes?.frame(name, deed);
    const found = this.#find(principal, name);
    assertRight(operation, principal, nameOf(found));
    return { note, found };
  }

  /** The caller's own frame by its handle, another tenant's by its possible share. */
  #find({ tenant }: Principal, name: FrameName): Handle | Share {
    if (!isSharedName(name)) return name;
    if (this.#records === undefined) return parseHandle(name);
    const { owner, handle } = splitSharedName(name);
    return owner === tenant ? handle : { owner, handle, reader: tenant };
  }

  /** In order; also names of frames that are gone. */
  #sharedNames(principal: Principal, { prefix = '', after = '' }: ListOptions): FrameName[] {
    const shares = this.#records?.shares.withReader(principal.tenant) ?? [];
    return shares
      .map(nameOf)
      .filter((name) => name.startsWith(prefix) && name > after && isWithin(principal, name))
      .sort();
  }

  async *#list(principal: Principal, options: ListOptions): AsyncGenerator<FrameSummary> {
    assertRight('list', principal);
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

  async *#listShared(principal: Principal, name: FrameName): AsyncGenerator<FrameSummary> {
    try {
      yield await this.#reading('list', principal, name, (frame) => this.#summary(frame, name));
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  async #summary(
    { principal, handle, origin }: StoredFrame,
    name: FrameName,
    signal: AbortSignal = unstopped,
  ): Promise<FrameSummary> {
    const summary = await this.#frames.describe(principal, handle, { signal, origin });
    return origin === undefined ? summary : { ...summary, handle: name };
  }

  async #reading<T extends object>(
    operation: Operation,
    principal: Principal,
    name: FrameName,
    act: (frame: StoredFrame) => Promise<T>,
  ): Promise<T> {
    const { note, found } = this.#begin(operation, principal, name);
    const done = await this.#acting(principal, name, found, act);
    const { version, count }: Noted = done;
    if (note && version !== undefined) note.version = version;
    if (note && count !== undefined) principal.notes?.addRows(count);
    return done;
  }

  async #acting<T>(
    principal: Principal,
    name: FrameName,
    found: Handle | Share,
    act: (frame: StoredFrame) => Promise<T>,
  ): Promise<T> {
    if (typeof found === 'string') return act({ principal, handle: found });
    const origin = await this.#records?.shares.originOf(found);
    if (origin === undefined) throw handleNotFound(name);
    try {
      return await act({ principal: asOwner(principal, found), handle: found.handle, origin });
    } catch (error) {
      throw isNotFound(error) ? handleNotFound(name) : error;
    }
  }

  /** A shared frame of another tenant is refused (`forbidden`). */
  async #writing<T extends { readonly version: number }>(
    operation: Operation,
    principal: Principal,
    name: FrameName,
    act: (handle: Handle) => Promise<T>,
    deed = rules[operation].deed,
  ): Promise<T> {
    const { note, found } = this.#begin(operation, principal, name, deed);
    const done = await act(await this.#own(principal, name, found));
    if (note) note.version = done.version;
    principal.notes?.changed();
    return done;
  }

  async #own(principal: Principal, name: FrameName, found: Handle | Share): Promise<Handle> {
    if (typeof found === 'string') return found;
    await this.#acting(principal, name, found, (frame) => this.#summary(frame, name));
    throw onlyOwnerChanges(name);
  }

  /** No handle if the server is to choose it, which would be outside of every prefix. */
  async #putTarget(
    operation: Operation,
    principal: Principal,
    { handle: name, mode }: Pick<PutRequest, 'handle' | 'mode'>,
  ): Promise<{ readonly note?: FrameNote | undefined; readonly handle?: Handle }> {
    if (name === undefined) {
      assertRight(operation, principal, '' as Handle);
      return {};
    }
    const { note, found } = this.#begin(operation, principal, name, mode);
    return { note, handle: await this.#own(principal, name, found) };
  }

  async #defining(
    operation: Operation,
    principal: Principal,
    { kind, name }: Pick<Definition, 'kind' | 'name'>,
    act: () => Promise<boolean>,
  ): Promise<boolean> {
    const { notes } = principal;
    if (notes !== undefined) notes.object = `${kind} ${name}`;
    assertRight(operation, principal, name as Handle);
    const isDone = await act();
    if (isDone) notes?.changed();
    return isDone;
  }
}

function assertRight(operation: Operation, principal: Principal, name?: FrameName): void {
  const { right } = rules[operation];
  if (right !== undefined) assertMay(principal, right, name);
}

export function onlyOwnerChanges(name: FrameName): AppError {
  return new AppError('forbidden', `${name} is shared with you to be read: only its owner changes it`, {
    hint: 'keep a copy under a handle of your own',
  });
}

function isNotFound(error: unknown): boolean {
  return error instanceof AppError && error.code === 'handle_not_found';
}

/** The name that a token's prefix is compared with. */
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

import type { Column, EncodedRows } from '@framehold/columns';
import type { Principal } from '../core/callers/principal.ts';
import type { StatementCosts } from '../core/logs/statement-costs.ts';
import type { FrameName } from '../core/names/frame-name.ts';
import type { Handle } from '../core/names/handle.ts';
import type { ChunkForm, Compression, FileReport, PartRows } from '../core/rows/frame-engine.ts';
import type { Definition } from '../core/sql/definition.ts';
import type { FrameChange } from './catalog/frame-changes.ts';
import type { ChangeResult, FrameSummary, HeldSummary, PutResult } from './catalog/frame-summary.ts';
import type { IfDefined } from './disk/definition-folder.ts';
import type { ReadOptions } from './read/chunk-reader.ts';
import type { FrameReader } from './read/frame-reader.ts';
import type { FrameParts, FrameRows, FrameSelection, ReadRequest } from './read/read-frame.ts';
import type { ChangeRequest } from './write/change-frame.ts';
import type { LogBacklog } from './write/flusher.ts';
import type { PutRequest } from './write/put-frame.ts';
import type { Arrival } from './write/quota.ts';
import type { RedefineRequest } from './write/redefine-frame.ts';
import type { SaveView } from './write/save-view.ts';

export interface Signal {
  readonly signal: AbortSignal;
  /** For fair queues: tenants and callers take turns. Default: the server itself. */
  readonly lane?: string | undefined;
  /** Receives the costs of the work. */
  readonly costs?: StatementCosts | undefined;
}

export interface OpenOptions extends Signal {
  /** Only the frame of this origin: another one under its handle counts as missing. */
  readonly origin?: string | undefined;
}

/** A path beside the frames. The file or folder there is removed when this is disposed of, or when the server starts. */
export interface TemporaryPath extends AsyncDisposable {
  readonly path: string;
}

/** Damaged frames are among them. */
export interface FrameUse {
  readonly frames: number;
  /** Bytes of their files. */
  readonly bytes: number;
}

/** Over all tenants. */
export interface StoreTotals extends FrameUse {
  readonly damaged: number;
  /** Since the start. */
  readonly puts: number;
  readonly rowsPut: number;
  readonly bytesPut: number;
}

/** Background work that is left. Of all tenants. */
export interface StoreBacklog extends LogBacklog {
  /** Frames whose parts wait for a merge or a compression. */
  readonly rewritesWaiting: number;
  /** Since the start: failed flushes of logs into Parquet, and abandoned rewrites. */
  readonly flushFailures: number;
  readonly rewriteFailures: number;
}

/** Why no requests should be sent to the store. `storage_failed`: it failed to keep a write, and gets no more until a restart. */
export type StoreTrouble = 'storage_failed' | 'lease_lost';

/** For uploaded bytes, which count among the uploads of the tenant as long as they exist. */
export interface TemporaryFile extends TemporaryPath, Pick<Arrival, 'counted'> {}

export interface ListOptions {
  /** Only names that begin so. */
  readonly prefix?: string | undefined;
  /** Only names behind this one. */
  readonly after?: string | undefined;
  /** Default: the caller's own frames and shared ones. */
  readonly whose?: 'own' | 'shared' | undefined;
}

/** Everything that can be done with frames. Others depend on the part that they need: `Pick<Frames, 'read'>`. */
export interface Frames<Name extends string = FrameName> {
  /** Reads rows of the current version, already encoded. */
  read(principal: Principal, request: ReadRequest<Name>, options: ReadOptions & OpenOptions): Promise<FrameRows>;
  /** The id of a version that can be served at once, without a look at the disk. Counts as a read. */
  peek(principal: Principal, handle: Name): string | undefined;
  /** The current version, for as long as the reader is not disposed of: for engines, which read the files themselves. */
  open(principal: Principal, handle: Name, options: OpenOptions): Promise<FrameReader>;
  /** The files of the current version, with the selected rows of them. */
  openParts(principal: Principal, selection: FrameSelection<Name>, options: OpenOptions): Promise<FrameParts>;
  /** In order of names; damaged ones too. */
  list(principal: Principal, options?: ListOptions): AsyncIterable<FrameSummary>;
  describe(principal: Principal, handle: Name, options: OpenOptions): Promise<FrameSummary>;
  /**
   * Calls `wake` soon after changes of the frame, once for several: look at the frame then, which also checks that the caller may
   * still read it. Until this is disposed of, the frame does not expire.
   */
  watch(principal: Principal, handle: Name, wake: () => void, options: Signal): Promise<Disposable>;
  /** Reports changes of all frames that `list` gives the caller, each at most every few milliseconds. */
  watchAll(principal: Principal, tell: (change: FrameChange<Name>) => void, options: Signal): Promise<Disposable>;
  /** Throws (`forbidden`) where the caller may write nothing: before anything is looked up for it. */
  assertMayWrite(principal: Principal): void;
  /**
   * The columns of a frame for appends, if known without a look at the disk: else use `describe`. Throws (`forbidden`) if the
   * caller may not write it.
   */
  appendColumns(principal: Principal, handle: Name): readonly Column[] | undefined;
  /** Resolves when the frame is on disk for good. */
  put(principal: Principal, request: PutRequest<Name>, options: Signal): Promise<PutResult>;
  /** Changes the definition of the columns, while the rows stay: makes the next version. Resolves when that is durable. */
  redefine(principal: Principal, request: RedefineRequest<Name>): Promise<HeldSummary>;
  /** Changes some rows of a frame, or removes them: makes its next version. Resolves when that is on disk for good. */
  change(principal: Principal, request: ChangeRequest<Name>, options: Signal): Promise<ChangeResult>;
  /** Rejects (`forbidden`, `handle_exists`, `quota_exceeded`) like a put with any rows would: before they are sent in vain. */
  refusePut(principal: Principal, request: Pick<PutRequest<Name>, 'handle' | 'mode'>): Promise<void>;
  /** Resolves when the view is on disk for good. */
  saveView(principal: Principal, request: SaveView<Name>, options: Signal): Promise<HeldSummary>;
  /** The macros and types that the caller's statements may use, in order of names. */
  definitions(principal: Principal): Promise<readonly Definition[]>;
  /** Resolves when the macro or type is on disk for good. False where there is one of its name, which is to stay. */
  define(principal: Principal, definition: Definition, ifTaken: IfDefined): Promise<boolean>;
  /** False where there is none of this kind and name. */
  undefine(principal: Principal, definition: Pick<Definition, 'kind' | 'name'>): Promise<boolean>;
  /** Frames and bytes of the tenant. */
  use(principal: Principal): Promise<FrameUse>;
  /** Gives the version that it dropped. */
  drop(principal: Principal, handle: Name, options?: { readonly ifVersion?: number | undefined }): Promise<number>;
  /** Starts the time to live again. */
  renew(principal: Principal, handle: Name, ttlMs?: number | null): Promise<HeldSummary>;
  /** Moves rows that are only in the frame's log into Parquet. Resolves when all its present rows are there. */
  flush(principal: Principal, handle: Name): Promise<HeldSummary>;
  /** A path for bytes of an upload or download. No file is there yet. `lane`: as in Signal. */
  temporaryFile(principal: Principal, lane?: string): Promise<TemporaryFile>;
  /** An empty folder for Parquet files that others write and a put of kind `parts` takes over. */
  incomingFolder(principal: Principal): Promise<TemporaryPath>;
  /** Writes rows to a temporary Parquet file. Default compression: that of a new frame. */
  writeParquet(
    principal: Principal,
    request: {
      readonly source: PartRows;
      readonly compression?: Compression | undefined;
      /** The caller's statements can read it. Default false. */
      readonly isForStatements?: boolean | undefined;
    },
    options: Signal,
  ): Promise<TemporaryPath & { readonly bytes: number }>;
  /** Reads a file as a put would, and stores nothing. */
  preview(
    principal: Principal,
    request: { readonly source: PartRows; readonly form: ChunkForm; readonly maxRows: number },
    options: Signal,
  ): Promise<FilePreview>;
}

/** The same for the frames of one tenant. */
export type TenantOperations = {
  [Method in keyof Frames<Handle>]: Frames<Handle>[Method] extends (
    principal: Principal,
    ...call: infer Call
  ) => infer Result
    ? (...call: Call) => Result
    : never;
};

export interface FilePreview {
  readonly columns: readonly Column[];
  /** Number of rows of the whole file. */
  readonly rows: number;
  /** The first of them, at most `maxRows`. */
  readonly firstRows: readonly Pick<EncodedRows, 'rows' | 'bytes'>[];
  readonly report: FileReport | undefined;
}

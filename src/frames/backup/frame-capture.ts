import { link, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { errnoOf } from '../../core/errors/storage-error.ts';
import type { Handle } from '../../core/names/handle.ts';
import { isUnwritable } from '../catalog/tenant-state.ts';
import type { Manifest } from '../disk/manifest.ts';
import type { HandleRecords, ManifestFiles } from '../disk/manifest-files.ts';
import { type FileIdentity, type Identity, justIdentity, sameFiles, sameIdentity } from '../disk/part.ts';
import { FileChanged } from '../disk/part-links.ts';
import { type FilesOnDisk, identify, type TenantDirectory } from '../disk/tenant-directory.ts';
import type { Tombstone } from '../disk/tombstone.ts';
import type { SharedLocks } from '../peers/shared-locks.ts';
import { assessHandle, cutOffParts, type HandleState, isConsistent } from '../reconcile/assess-handle.ts';

/** A file of a frame that stays readable until the capture is disposed of. */
export interface CapturedFile {
  /** Relative to the tenant's directory. */
  readonly file: string;
  readonly path: string;
  /** At the capture. Only its number of bytes belongs to the frame. */
  readonly identity: Identity;
  /** Null for files from outside. */
  readonly checksum: string | null;
}

export interface CapturedFrame {
  readonly kind: 'frame';
  /** Undefined for a frame from outside that no server has taken. */
  readonly manifest: Manifest | undefined;
  readonly parts: readonly CapturedFile[];
  readonly logs: readonly CapturedFile[];
}

export type Captured = (
  | CapturedFrame
  | { readonly kind: 'gone'; readonly tombstone: Tombstone }
  | { readonly kind: 'absent' }
  | { readonly kind: 'damaged'; readonly reason: string }
) &
  AsyncDisposable;

export interface CaptureOptions {
  /** Whether a part need not stay readable, because an earlier backup has its bytes. */
  readonly isKept: (part: FileIdentity & { readonly checksum: string | null }) => Promise<boolean>;
}

interface Look {
  readonly records: HandleRecords;
  readonly files: FilesOnDisk;
  readonly logs: readonly FileIdentity[];
  readonly state: HandleState;
}

/** Without a lock; with it then. */
const mostLooks = 3;
const mostLockedLooks = 5;
const pauseMs = 20;
const pinsAtOnce = 32;

/** Takes hold of one version of a frame while servers may write it: its parts, its log and its manifest. */
export class FrameCapture {
  readonly #directory: TenantDirectory;
  readonly #records: ManifestFiles;
  readonly #locks: SharedLocks;

  constructor(directory: TenantDirectory, records: ManifestFiles, locks: SharedLocks) {
    this.#directory = directory;
    this.#records = records;
    this.#locks = locks;
  }

  async capture(handle: Handle, options: CaptureOptions): Promise<Captured> {
    for (let look = 1; look <= mostLooks; look++) {
      const captured = await this.#captureStill(handle, options, { isSettled: true });
      if (captured !== undefined) return captured;
      await pause(pauseMs);
    }
    try {
      // No live process is in the middle of a write now; leftovers of dead ones are treated as a server would treat them.
      return await this.#locks.run(handle, () => this.#captureAnyhow(handle, options));
    } catch (error) {
      if (!isUnwritable(error)) throw error;
      return this.#captureAnyhow(handle, options);
    }
  }

  async #captureAnyhow(handle: Handle, options: CaptureOptions): Promise<Captured> {
    for (let look = 1; look <= mostLockedLooks; look++) {
      const captured = await this.#captureStill(handle, options, { isSettled: false });
      if (captured !== undefined) return captured;
      await pause(pauseMs);
    }
    return captured({ kind: 'damaged', reason: 'its files are being changed from outside' });
  }

  /** Undefined where it was changed meanwhile, or where `isSettled` and something was begun and not finished. */
  async #captureStill(
    handle: Handle,
    options: CaptureOptions,
    { isSettled }: { readonly isSettled: boolean },
  ): Promise<Captured | undefined> {
    const before = await this.#look(handle);
    if (isSettled && !isConsistent(before.state, before.records)) return undefined;
    const pins: string[] = [];
    let result: Captured | undefined;
    try {
      result = await this.#take(handle, before, options, pins);
      if (!isSame(before, await this.#look(handle))) result = undefined;
    } catch (error) {
      if (!(error instanceof FileChanged)) throw error;
    } finally {
      if (result === undefined) await unpin(pins);
    }
    return result;
  }

  async #look(handle: Handle): Promise<Look> {
    const [records, files, logs] = await Promise.all([
      this.#records.read(handle),
      this.#directory.look(handle),
      this.#logs(handle),
    ]);
    const cutOff = cutOffParts(handle, files, records);
    const folder = files.folder.filter((file) => !cutOff.includes(file));
    return { records, files, logs, state: assessHandle(handle, { ...files, folder }, records) };
  }

  async #logs(handle: Handle): Promise<FileIdentity[]> {
    const folder = this.#directory.logsFolder(handle);
    const names = await readdir(folder).catch((error) => {
      if (['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')) return [];
      throw error;
    });
    const found: FileIdentity[] = [];
    for (const name of names.filter((one) => one.endsWith('.log')).sort()) {
      const identity = await identify(join(folder, name));
      if (identity !== undefined) found.push({ file: name, ...identity });
    }
    return found;
  }

  async #take(handle: Handle, look: Look, options: CaptureOptions, pins: string[]): Promise<Captured> {
    const { state, logs } = look;
    switch (state.kind) {
      case 'held': {
        const { manifest } = state;
        const parts = await this.#pinParts(manifest.parts, options, pins);
        return captured({ kind: 'frame', manifest, parts, logs: await this.#pinLogs(handle, logs, pins) }, pins);
      }
      case 'outside': {
        const { previous } = state;
        // Only its manifest can say whether the rows of its log are rows of the frame.
        if (previous === undefined && logs.length > 0 && (await this.#records.isManifestDamaged(handle))) {
          return captured({
            kind: 'damaged',
            reason: 'its manifest is not readable, and rows of it may be in its log',
          });
        }
        // The same bytes under another inode: a directory that was copied, and that no server has looked at.
        const isCopy =
          previous?.parts.length === state.files.length &&
          previous.parts.every(
            ({ file, size, checksum }, at) =>
              checksum !== null && state.files[at]?.file === file && state.files[at]?.size === size,
          );
        const files = state.files.map((file, at) => ({
          ...justIdentity(file),
          checksum: (isCopy && previous.parts[at]?.checksum) || null,
        }));
        // A checksum in the manifest holds for the written files: these ones may differ until they are read.
        const isKept: CaptureOptions['isKept'] = (part) => options.isKept({ ...part, checksum: null });
        const parts = await this.#pinParts(files, { isKept }, pins);
        if (!isCopy) return captured({ kind: 'frame', manifest: undefined, parts, logs: [] }, pins);
        return captured(
          { kind: 'frame', manifest: previous, parts, logs: await this.#pinLogs(handle, logs, pins) },
          pins,
        );
      }
      case 'half-dropped':
      case 'gone':
        return captured({ kind: 'gone', tombstone: state.tombstone });
      case 'removed':
        return captured({ kind: 'damaged', reason: 'its files are missing' });
      case 'absent':
        return captured({ kind: 'absent' });
      default:
        return state satisfies never;
    }
  }

  async #pinParts(
    parts: readonly (FileIdentity & { readonly checksum: string | null })[],
    { isKept }: CaptureOptions,
    pins: string[],
  ): Promise<CapturedFile[]> {
    const taken: CapturedFile[] = [];
    for (let at = 0; at < parts.length; at += pinsAtOnce) {
      const group = parts.slice(at, at + pinsAtOnce).map(async (part) => {
        const path = this.#directory.path(part.file);
        const isThere = await isKept(part);
        const { file, checksum } = part;
        return { file, checksum, identity: part, path: isThere ? path : await this.#pin(path, part, pins) };
      });
      const results = await Promise.allSettled(group);
      for (const result of results) {
        if (result.status === 'rejected') throw result.reason;
        taken.push(result.value);
      }
    }
    return taken;
  }

  async #pinLogs(handle: Handle, logs: readonly FileIdentity[], pins: string[]): Promise<CapturedFile[]> {
    const taken: CapturedFile[] = [];
    for (const log of logs) {
      const path = await this.#pinLog(join(this.#directory.logsFolder(handle), log.file), log, pins);
      taken.push({ file: log.file, path, identity: log, checksum: null });
    }
    return taken;
  }

  async #pin(path: string, { file, ...identity }: FileIdentity, pins: string[]): Promise<string> {
    const pinned = await this.#link(path, pins);
    const found = await identify(pinned);
    if (found === undefined || !sameIdentity(found, identity)) throw new FileChanged(file);
    return pinned;
  }

  /** It may have grown since: its earlier bytes are unchanged. */
  async #pinLog(path: string, { file, ino, size }: FileIdentity, pins: string[]): Promise<string> {
    const pinned = await this.#link(path, pins);
    const found = await identify(pinned);
    if (found === undefined || found.ino !== ino || found.size < size) throw new FileChanged(file);
    return pinned;
  }

  /** By the public name where nothing can be written, or on a file system without hard links. */
  async #link(path: string, pins: string[]): Promise<string> {
    const pinned = this.#directory.newPinPath();
    try {
      await this.#directory.prepare();
      await link(path, pinned);
    } catch (error) {
      if (['EMFILE', 'ENFILE'].includes(errnoOf(error) ?? '')) throw error;
      return path;
    }
    pins.push(pinned);
    return pinned;
  }
}

type Content<T> = T extends AsyncDisposable ? Omit<T, typeof Symbol.asyncDispose> : T;

function captured(content: Content<Captured>, pins: readonly string[] = []): Captured {
  return { ...content, [Symbol.asyncDispose]: () => unpin(pins) } as Captured;
}

async function unpin(pins: readonly string[]): Promise<void> {
  await Promise.all(pins.map((path) => unlink(path).catch(() => {})));
}

/** Rows that were added to the log since do not matter: the earlier ones are unchanged. */
function isSame(a: Look, b: Look): boolean {
  return (
    JSON.stringify(a.records) === JSON.stringify(b.records) &&
    sameFiles(list(a.files), list(b.files)) &&
    a.logs.every(({ file, ino, size }) =>
      b.logs.some((log) => log.file === file && log.ino === ino && log.size >= size),
    )
  );
}

function list({ file, folder }: FilesOnDisk): readonly FileIdentity[] {
  return file === undefined ? folder : [file, ...folder];
}

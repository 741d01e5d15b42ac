import { rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Handle } from '../../core/names/handle.ts';
import { Checksum } from '../../core/rows/checksum.ts';
import type { DurableFiles } from '../disk/durable-file.ts';
import { encodeManifest, type Manifest } from '../disk/manifest.ts';
import { type FileIdentity, justIdentity, type Part, sameIdentity } from '../disk/part.ts';
import { FileChanged } from '../disk/part-links.ts';
import { identify, type TenantDirectory } from '../disk/tenant-directory.ts';
import { encodeTombstone } from '../disk/tombstone.ts';
import { LogDamaged, LogFolder } from '../log/log-folder.ts';
import { looksLikeParquet } from '../reconcile/adopt-files.ts';
import { copyFile, linkIfPossible } from './copy-file.ts';
import type { CapturedFile, CapturedFrame, FrameCapture } from './frame-capture.ts';
import { isAsListed, type ListedFile, type ListedFrame } from './listing.ts';

export interface BackupFigures {
  frames: number;
  bytes: number;
  /** The others are links to files of the backup before. */
  copiedBytes: number;
}

/** A frame that could not be copied whole; the message says why. */
class Damaged extends Error {}
/** A file of the earlier backup differs from its listing. */
class EarlierChanged extends Error {}

/** Without links of our own, servers may take files away while they are copied. */
const mostAttempts = 3;

export interface FrameBackupOptions {
  readonly capture: FrameCapture;
  /** The directory of the same tenant in the new backup. */
  readonly target: TenantDirectory;
  /** Paths in the listing are relative to it. */
  readonly root: string;
  /** Folder of the backup before. */
  readonly earlierRoot: string | undefined;
  readonly durable: DurableFiles;
  readonly figures: BackupFigures;
  readonly signal: AbortSignal;
}

export interface FrameOutcome {
  /** Undefined if the backup has nothing of it. */
  readonly listed: ListedFrame | undefined;
  readonly fault: string | undefined;
}

/** Copies the frames of a tenant into a backup, one version of each. */
export class FrameBackup {
  readonly #options: FrameBackupOptions;

  constructor(options: FrameBackupOptions) {
    this.#options = options;
  }

  async add(handle: Handle, earlier: ListedFrame | undefined): Promise<FrameOutcome> {
    let usable = earlier;
    for (let attempt = 1; attempt <= mostAttempts; attempt++) {
      try {
        return await this.#add(handle, usable);
      } catch (error) {
        if (error instanceof EarlierChanged) usable = undefined;
        else if (!(error instanceof FileChanged)) throw error;
      }
    }
    return { listed: undefined, fault: 'its files are being changed from outside' };
  }

  async #add(handle: Handle, earlier: ListedFrame | undefined): Promise<FrameOutcome> {
    const kept = new Map<string, ListedFile>();
    const isKept = async (part: FileIdentity & { readonly checksum: string | null }): Promise<boolean> => {
      const file = await this.#sameOf(part, earlier?.parts ?? []);
      if (file !== undefined) kept.set(part.file, file);
      else kept.delete(part.file);
      return file !== undefined;
    };
    await using captured = await this.#options.capture.capture(handle, { isKept });
    const made: string[] = [];
    const work = new FrameCopy(this.#options, handle, earlier, kept, made);
    try {
      switch (captured.kind) {
        case 'frame':
          return { listed: await work.frame(captured), fault: undefined };
        case 'gone': {
          const path = this.#options.target.recordPath('tombstones', handle);
          const tombstone = await work.text(path, encodeTombstone(captured.tombstone), earlier?.others);
          return { listed: work.listed({ parts: [], others: [tombstone] }), fault: undefined };
        }
        case 'absent':
          return { listed: undefined, fault: undefined };
        case 'damaged':
          return { listed: undefined, fault: captured.reason };
        default:
          return captured satisfies never;
      }
    } catch (error) {
      for (const path of made.reverse()) await rm(path, { recursive: true, force: true });
      if (error instanceof Damaged) return { listed: undefined, fault: error.message };
      throw error;
    }
  }

  /** A file of the earlier backup with the same bytes. */
  async #sameOf(
    part: FileIdentity & { readonly checksum: string | null },
    among: readonly ListedFile[],
  ): Promise<ListedFile | undefined> {
    const { earlierRoot } = this.#options;
    if (earlierRoot === undefined) return undefined;
    const same = among.find((file) =>
      part.checksum === null
        ? file.source !== undefined && sameIdentity(file.source, part) && file.path.endsWith(`/${part.file}`)
        : file.checksum === part.checksum && file.size === part.size,
    );
    return same !== undefined && (await isAsListed(earlierRoot, same)) ? same : undefined;
  }
}

/** The copy of one frame into a backup. */
class FrameCopy {
  readonly #options: FrameBackupOptions;
  readonly #handle: Handle;
  readonly #earlier: ListedFrame | undefined;
  readonly #kept: ReadonlyMap<string, ListedFile>;
  /** Files and folders, in order. */
  readonly #made: string[];

  constructor(
    options: FrameBackupOptions,
    handle: Handle,
    earlier: ListedFrame | undefined,
    kept: ReadonlyMap<string, ListedFile>,
    made: string[],
  ) {
    this.#options = options;
    this.#handle = handle;
    this.#earlier = earlier;
    this.#kept = kept;
    this.#made = made;
  }

  async frame({ manifest, parts, logs }: CapturedFrame): Promise<ListedFrame> {
    const { target, durable, figures } = this.#options;
    const handle = this.#handle;
    const folder = target.path(handle);
    const isFolder = parts.some(({ file }) => file.includes('/'));
    if (isFolder) await this.#makeFolder(folder);
    const copies: ListedFile[] = [];
    for (const part of parts) copies.push(await this.#part(part));
    if (isFolder) await durable.syncDirectory(folder);
    const moved = manifest === undefined ? undefined : await this.#moved(manifest, copies);
    const others: ListedFile[] = [];
    if (logs.length > 0) await this.#makeFolder(target.logsFolder(handle));
    for (const log of logs) others.push(await this.#log(log));
    if (logs.length > 0) await durable.syncDirectory(target.logsFolder(handle));
    if (moved !== undefined && others.some((log) => !this.#isLinked(log))) await this.#checkLog(moved);
    const record =
      moved === undefined
        ? undefined
        : await this.text(target.recordPath('manifests', handle), encodeManifest(moved), [
            ...(this.#earlier?.manifest === undefined ? [] : [this.#earlier.manifest]),
          ]);
    figures.frames++;
    for (const { size } of [...copies, ...others]) figures.bytes += size;
    return this.listed({ parts: copies, manifest: record, others });
  }

  listed(files: Pick<ListedFrame, 'parts' | 'manifest' | 'others'>): ListedFrame {
    return { kind: 'frame', tenant: this.#options.target.tenant, handle: this.#handle, ...files };
  }

  /** A small file, which is a link where the earlier backup has the same. */
  async text(path: string, text: string, among: readonly ListedFile[] = []): Promise<ListedFile> {
    const { durable, root, earlierRoot } = this.#options;
    const sum = new Checksum();
    sum.update(Buffer.from(text));
    const checksum = sum.digest();
    const same = among.find((file) => file.checksum === checksum && file.path === relative(root, path));
    this.#made.push(path);
    if (same !== undefined && earlierRoot !== undefined && (await isAsListed(earlierRoot, same))) {
      if (await linkIfPossible(join(earlierRoot, same.path), path)) return same;
    }
    await durable.writeFile(path, text);
    return this.#list(path, checksum);
  }

  async #part(part: CapturedFile): Promise<ListedFile> {
    const { target } = this.#options;
    const path = target.path(part.file);
    this.#made.push(path);
    const earlier = this.#kept.get(part.file);
    return earlier === undefined ? this.#copyPart(part, path) : this.#again(earlier, part, path);
  }

  /** Reuses a file of an earlier backup. */
  async #again(earlier: ListedFile, part: CapturedFile, path: string): Promise<ListedFile> {
    const { root, earlierRoot = '', figures, signal } = this.#options;
    const from = join(earlierRoot, earlier.path);
    if (await linkIfPossible(from, path)) {
      return { ...earlier, path: relative(root, path), source: identityOnly(part.identity) };
    }
    const { checksum } = await copyFile(from, path, { checksumLike: earlier.checksum, signal });
    if (checksum !== earlier.checksum) throw new EarlierChanged();
    figures.copiedBytes += earlier.size;
    return this.#list(path, checksum, part);
  }

  async #copyPart(part: CapturedFile, path: string): Promise<ListedFile> {
    const { figures, signal } = this.#options;
    const { checksum, identity } = await copyFile(part.path, path, { checksumLike: part.checksum, signal });
    const found = await identify(part.path);
    if (found === undefined || !sameIdentity(found, part.identity)) {
      throw new FileChanged(part.file);
    }
    if (part.checksum === null && !(await looksLikeParquet(path, identity.size))) {
      throw new Damaged(`${part.file}: it does not begin and end as a Parquet file does`);
    }
    if (identity.size !== part.identity.size || (part.checksum !== null && checksum !== part.checksum)) {
      throw new Damaged(`${part.file}: its bytes are not those that were written`);
    }
    figures.copiedBytes += identity.size;
    return this.#list(path, checksum, part);
  }

  async #log(log: CapturedFile): Promise<ListedFile> {
    const { target, root, earlierRoot, figures, signal } = this.#options;
    const path = join(target.logsFolder(this.#handle), log.file);
    this.#made.push(path);
    const same = this.#earlier?.others.find(
      ({ path: other, source }) =>
        other === relative(root, path) && source !== undefined && sameIdentity(source, log.identity),
    );
    if (same !== undefined && earlierRoot !== undefined && (await isAsListed(earlierRoot, same))) {
      if (await linkIfPossible(join(earlierRoot, same.path), path)) return same;
    }
    const { checksum, identity } = await copyFile(log.path, path, { bytes: log.identity.size, signal });
    figures.copiedBytes += identity.size;
    return this.#list(path, checksum, log);
  }

  #isLinked(log: ListedFile): boolean {
    return this.#earlier?.others.includes(log) === true;
  }

  /** Reads the rows of the copy: a copy without all acknowledged rows is refused. */
  async #checkLog(manifest: Manifest): Promise<void> {
    const { target, durable } = this.#options;
    try {
      await new LogFolder(target, durable).read(manifest);
    } catch (error) {
      if (error instanceof LogDamaged) throw new Damaged(error.message);
      throw error;
    }
  }

  /** The manifest for the files of the backup, which so is a directory that can be served and verified. */
  async #moved(manifest: Manifest, copies: readonly ListedFile[]): Promise<Manifest> {
    return movedManifest(manifest, copies, this.#options.target);
  }

  async #makeFolder(path: string): Promise<void> {
    this.#made.push(path);
    await this.#options.durable.makeFolder(path);
  }

  async #list(path: string, checksum: string, source?: CapturedFile): Promise<ListedFile> {
    const { root } = this.#options;
    const identity = await identify(path);
    if (identity === undefined) throw new Error(`${path} was removed while the backup was made`);
    const { size, mtimeNs } = identity;
    const copied = source !== undefined && { source: identityOnly(source.identity) };
    return { path: relative(root, path), size, checksum, mtimeNs, ...copied };
  }
}

/** A manifest of the same rows in other files, which have a checksum from now on. */
export async function movedManifest(
  manifest: Manifest,
  copies: readonly ListedFile[],
  target: TenantDirectory,
): Promise<Manifest> {
  const parts: Part[] = [];
  for (const [at, part] of manifest.parts.entries()) {
    const identity = await target.identify(target.path(part.file));
    if (identity === undefined) throw new Error(`${part.file} was removed while it was copied`);
    const { checksum } = copies[at] as ListedFile;
    parts.push({ ...part, ...justIdentity({ file: part.file, ...identity }), checksum });
  }
  return { ...manifest, parts, replaces: [] };
}

function identityOnly({ ino, size, mtimeNs }: CapturedFile['identity']): CapturedFile['identity'] {
  return { ino, size, mtimeNs };
}

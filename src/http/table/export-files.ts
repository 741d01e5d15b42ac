import { type FileHandle, open, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { abortable, type WaitOptions } from '@framehold/async';
import { Semaphore } from '../../core/async/semaphore.ts';
import type { Tenant } from '../../core/callers/principal.ts';
import { AppError } from '../../core/errors/app-error.ts';
import type { TemporaryPath } from '../../frames/frames.ts';

/** The content of a file. */
export interface ExportKey {
  readonly tenant: Tenant;
  /** The frame, or the statement. */
  readonly source: string;
  readonly versionId: string;
  /** Which rows and columns, in which form: all that the bytes depend on. */
  readonly form: string;
}

export interface MadeFile {
  readonly file: TemporaryPath;
  readonly bytes: number;
  readonly etag: string;
}

/** `later`: it cannot be made now, because the frame has another version or the disk no room. */
export type MakeFile = (limits: {
  readonly signal: AbortSignal;
  readonly maxBytes: number;
}) => Promise<MadeFile | 'too large' | 'later'>;

/** The request that waits for a file. */
export interface ExportWait {
  readonly signal: AbortSignal;
  /** See `WaitOptions`. */
  readonly lane?: string;
}

export interface OpenExport extends AsyncDisposable {
  readonly file: FileHandle;
  readonly bytes: number;
  readonly etag: string;
}

interface Making {
  readonly result: Promise<Kept | undefined>;
  readonly controller: AbortController;
  waiting: number;
}

interface Kept extends MadeFile {
  readonly key: ExportKey;
  readonly timer: NodeJS.Timeout;
}

export interface ExportFilesOptions {
  /** A larger document is not made first. Default 256 MiB. */
  readonly maxBytes?: number;
  /** Total size of the files. Default 1 GiB. */
  readonly budgetBytes?: number;
  /** Time for which an unused file stays. Default a minute. */
  readonly idleMs?: number;
}

const mebibyte = 1024 * 1024;
const atOnce = 4;
const mostFiles = 1000;
/** Free space that stays for frames, in files of the largest size. */
const filesOfRoom = 4;
const mostRemembered = 1000;

/**
 * Exports that are made before they are sent, so that clients may ask for their length and for ranges of them, request after
 * request. The calling route has checked before that the caller may read the frame.
 */
export class ExportFiles implements AsyncDisposable {
  readonly maxBytes: number;
  readonly #budgetBytes: number;
  readonly #idleMs: number;
  /** The one used last is the last one. */
  readonly #kept = new Map<string, Kept>();
  readonly #making = new Map<string, Making>();
  /** Made in vain lately. */
  readonly #tooLarge = new Set<string>();
  readonly #turns = new Semaphore(atOnce);
  #bytes = 0;
  #isClosed = false;
  /** Since the start. */
  made = 0;

  constructor({ maxBytes = 256 * mebibyte, budgetBytes = 1024 * mebibyte, idleMs = 60_000 }: ExportFilesOptions = {}) {
    this.maxBytes = maxBytes;
    this.#budgetBytes = budgetBytes;
    this.#idleMs = idleMs;
  }

  get usedBytes(): number {
    return this.#bytes;
  }

  /** The file of the key, made once for all requests. Undefined: it cannot be made first, so it must be streamed. */
  async open(key: ExportKey, make: MakeFile, wait: ExportWait): Promise<OpenExport | undefined> {
    const name = nameOf(key);
    const found = this.#kept.get(name) ?? (await this.#wait(name, key, make, wait));
    if (found === undefined) return undefined;
    try {
      const file = await open(found.file.path);
      this.#touch(name, found);
      return { file, bytes: found.bytes, etag: found.etag, [Symbol.asyncDispose]: () => file.close() };
    } catch {
      // It was removed meanwhile, to make room or from outside.
      await this.#drop(found);
      return undefined;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    const making = [...this.#making.values()];
    for (const { controller } of making) controller.abort(new AppError('overloaded', 'the server is stopping'));
    await Promise.allSettled(making.map(({ result }) => result));
    await Promise.allSettled([...this.#kept.values()].map((kept) => this.#drop(kept)));
  }

  async #wait(name: string, key: ExportKey, make: MakeFile, { signal, lane }: ExportWait): Promise<Kept | undefined> {
    if (this.#isClosed || this.#tooLarge.has(name)) return undefined;
    const making = this.#making.get(name) ?? this.#start(name, key, make, lane);
    making.waiting++;
    try {
      return await abortable(making.result, signal);
    } finally {
      making.waiting--;
      // No request waits for it any more. If it is made already, this does nothing.
      if (making.waiting === 0) {
        if (this.#making.get(name) === making) this.#making.delete(name);
        making.controller.abort(new DOMException('nobody waits for the export', 'AbortError'));
      }
    }
  }

  #start(name: string, key: ExportKey, make: MakeFile, lane: string | undefined): Making {
    const controller = new AbortController();
    const result = this.#make(name, key, make, { signal: controller.signal, ...(lane && { lane }) }).finally(() => {
      if (this.#making.get(name) === making) this.#making.delete(name);
    });
    result.catch(() => {});
    const making: Making = { result, controller, waiting: 0 };
    this.#making.set(name, making);
    return making;
  }

  async #make(name: string, key: ExportKey, make: MakeFile, wait: WaitOptions & ExportWait): Promise<Kept | undefined> {
    const release = await this.#turns.acquire(wait);
    const { signal } = wait;
    try {
      const { maxBytes } = this;
      const made = await make({ signal, maxBytes });
      if (made === 'later') return undefined;
      if (made === 'too large') {
        this.#remember(name);
        return undefined;
      }
      if (this.#isClosed || signal.aborted) {
        await made.file[Symbol.asyncDispose]();
        return undefined;
      }
      this.made++;
      return this.#keep(name, key, made);
    } catch (error) {
      // A full disk is no reason against an answer that needs none.
      if (error instanceof AppError && ['storage_full', 'storage_read_only'].includes(error.code)) return undefined;
      throw error;
    } finally {
      release();
    }
  }

  #keep(name: string, key: ExportKey, made: MadeFile): Kept {
    for (const other of [...this.#kept.values()]) {
      const { tenant, source, versionId } = other.key;
      if (tenant === key.tenant && source === key.source && versionId !== key.versionId) void this.#drop(other);
    }
    for (const oldest of this.#kept.values()) {
      if (this.#bytes + made.bytes <= this.#budgetBytes && this.#kept.size < mostFiles) break;
      void this.#drop(oldest);
    }
    const timer = setTimeout(() => void this.#drop(kept), this.#idleMs).unref();
    const kept: Kept = { ...made, key, timer };
    this.#kept.set(name, kept);
    this.#bytes += made.bytes;
    return kept;
  }

  #touch(name: string, kept: Kept): void {
    if (this.#kept.get(name) !== kept) return;
    kept.timer.refresh();
    this.#kept.delete(name);
    this.#kept.set(name, kept);
  }

  /** Open readers still read it to its end. */
  async #drop(kept: Kept): Promise<void> {
    const name = nameOf(kept.key);
    if (this.#kept.get(name) !== kept) return;
    this.#kept.delete(name);
    this.#bytes -= kept.bytes;
    clearTimeout(kept.timer);
    // Files that cannot be removed go at the next start.
    await Promise.allSettled([kept.file[Symbol.asyncDispose]()]);
  }

  #remember(name: string): void {
    this.#tooLarge.add(name);
    for (const oldest of this.#tooLarge) {
      if (this.#tooLarge.size <= mostRemembered) break;
      this.#tooLarge.delete(oldest);
    }
  }
}

/** Whether a file of the largest size leaves enough room for frames at this path. */
export async function hasRoom(path: string, maxBytes: number): Promise<boolean> {
  const { bavail, bsize } = await statfs(dirname(path));
  return bavail * bsize > filesOfRoom * maxBytes;
}

function nameOf({ tenant, source, versionId, form }: ExportKey): string {
  return JSON.stringify([tenant, source, versionId, form]);
}

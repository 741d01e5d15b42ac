import { type FileHandle, open } from 'node:fs/promises';
import { withTimeout } from '@framehold/async';
import { AppError } from '../core/errors/app-error.ts';
import { errnoOf } from '../core/errors/storage-error.ts';
import type { Logger } from '../core/logs/logger.ts';

export interface AuditFileOptions {
  readonly path: string;
  /** Whether requests are refused or served while lines cannot be written. */
  readonly onFailure: 'refuse' | 'continue';
  readonly logger: Logger;
  /** Makes the line about lost lines. */
  readonly lostLine: (lines: number) => string;
}

interface Waiter {
  /** The number of the line. */
  readonly line: number;
  settle(error?: AppError): void;
}

/** Bytes of lines that wait for the disk. More are lost, or their requests refused. */
const maxPendingBytes = 8 * 1024 * 1024;
/** A longer write is stuck. */
const stuckMs = 5000;
const retryMs = 1000;
const closeMs = 2000;
const newline = 10;

/**
 * Lines at the end of a file, in the order in which they were appended. Writes are asynchronous, one at a time, each with all
 * lines that arrived meanwhile. A failed write is tried again until it works or the file is opened anew.
 */
export class AuditFile implements AsyncDisposable {
  readonly #options: AuditFileOptions;
  #file: FileHandle;
  #reopened: FileHandle | undefined;
  #pending: string[] = [];
  #pendingBytes = 0;
  #appended = 0;
  #waiters: Waiter[] = [];
  #draining: Promise<void> | undefined;
  #writeBegunMs: number | undefined;
  #failure: string | undefined;
  #lost = 0;
  #isClosing = false;
  #wake: (() => void) | undefined;

  private constructor(options: AuditFileOptions, file: FileHandle) {
    this.#options = options;
    this.#file = file;
  }

  static async open(options: AuditFileOptions): Promise<AuditFile> {
    try {
      return new AuditFile(options, await openAtEnd(options.path));
    } catch (error) {
      throw new AppError('audit_unavailable', `the audit file ${options.path} cannot be opened (${reasonOf(error)})`, {
        hint: 'give audit.file a path in a directory that the server may write to',
        cause: error,
      });
    }
  }

  /** Opens the path again, after a rotation has moved the file away. */
  async reopen(): Promise<void> {
    const { path, logger } = this.#options;
    try {
      const file = await openAtEnd(path);
      await this.#reopened?.close();
      this.#reopened = file;
      if (this.#draining === undefined) await this.#takeReopened();
      this.#wake?.();
      logger.info('the audit file is opened anew', { path });
    } catch (error) {
      logger.error('the audit file cannot be opened anew; lines go on into the old one', { path, error });
    }
  }

  assertWorks(): void {
    if (this.#options.onFailure === 'continue') return;
    const why = this.#failure ?? this.#whySlow();
    if (why !== undefined) throw unavailable(why, 'nothing was done');
  }

  append(line: string): void {
    if (this.#pendingBytes + line.length > maxPendingBytes) {
      this.#lost++;
      return;
    }
    this.#pending.push(line);
    this.#pendingBytes += line.length;
    this.#appended++;
    this.#draining ??= this.#drain();
  }

  /** Resolves when the kernel has the line: it outlives this process then. Not an fsync. */
  async appendAndWait(line: string): Promise<void> {
    const lost = this.#lost;
    this.append(line);
    let error: AppError | undefined;
    if (this.#lost > lost) error = unavailable('too many lines wait for the disk', changeMade);
    else if (this.#failure !== undefined) error = unavailable(this.#failure, changeMade);
    else error = await this.#settled(this.#appended);
    if (error !== undefined && this.#options.onFailure === 'refuse') throw error;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    this.#wake?.();
    const isDone = await withTimeout(
      (this.#draining ?? Promise.resolve()).then(() => true),
      closeMs,
      () => false,
    );
    // Closing a file waits for the stuck write.
    if (isDone) await this.#file.close();
  }

  #settled(line: number): Promise<AppError | undefined> {
    const written = new Promise<AppError | undefined>((resolve) => {
      this.#waiters.push({ line, settle: resolve });
    });
    return withTimeout(written, stuckMs, () => unavailable('the disk stands still', changeMade));
  }

  #whySlow(): string | undefined {
    const sinceMs = this.#writeBegunMs === undefined ? 0 : performance.now() - this.#writeBegunMs;
    if (sinceMs > stuckMs) return 'the disk stands still';
    return this.#pendingBytes > maxPendingBytes / 2 ? 'too many lines wait for the disk' : undefined;
  }

  async #drain(): Promise<void> {
    let isWritten = true;
    // Lines that arrive while the old file is closed are written, too.
    while (isWritten && (this.#pending.length > 0 || this.#reopened !== undefined)) {
      if (this.#pending.length > 0) isWritten = await this.#writePending();
      else await this.#takeReopened();
    }
    this.#draining = undefined;
  }

  /** False where the server stops before they are written. */
  async #writePending(): Promise<boolean> {
    const bytes = Buffer.from(this.#pending.join(''));
    const upTo = this.#appended;
    this.#pending = [];
    this.#pendingBytes = 0;
    if (!(await this.#write(bytes))) return false;
    this.#settle(upTo);
    this.#tellLost();
    return true;
  }

  /** False where the server stops before it is written. */
  async #write(bytes: Buffer): Promise<boolean> {
    for (let at = 0; at < bytes.length; ) {
      // A line that was half written to the old file is written whole to the new one.
      if (await this.#takeReopened()) at = at === 0 ? 0 : bytes.lastIndexOf(newline, at - 1) + 1;
      try {
        this.#writeBegunMs = performance.now();
        at += (await this.#file.write(bytes, at)).bytesWritten;
        this.#writeBegunMs = undefined;
      } catch (error) {
        this.#writeBegunMs = undefined;
        this.#fail(reasonOf(error));
        if (this.#isClosing) return false;
        await this.#pause();
      }
    }
    if (this.#failure !== undefined) this.#options.logger.warn('the audit file can be written again');
    this.#failure = undefined;
    return true;
  }

  #fail(reason: string): void {
    const { logger, path, onFailure } = this.#options;
    if (this.#failure === undefined) logger.error('the audit file cannot be written', { path, reason, onFailure });
    this.#failure = reason;
    this.#settle(Infinity, unavailable(reason, changeMade));
  }

  #settle(upTo: number, error?: AppError): void {
    const settled = this.#waiters.filter(({ line }) => line <= upTo);
    this.#waiters = this.#waiters.filter(({ line }) => line > upTo);
    for (const waiter of settled) waiter.settle(error);
  }

  #tellLost(): void {
    // The line must not be lost itself.
    if (this.#lost === 0 || this.#pending.length > 0) return;
    const line = this.#options.lostLine(this.#lost);
    this.#lost = 0;
    this.append(line);
  }

  async #takeReopened(): Promise<boolean> {
    const file = this.#reopened;
    if (file === undefined) return false;
    const old = this.#file;
    this.#reopened = undefined;
    this.#file = file;
    await old.close().catch(() => {});
    return true;
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, retryMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

const changeMade = 'the change was made, but has no line in the audit file yet';

function unavailable(reason: string, consequence: string): AppError {
  return new AppError('audit_unavailable', `the audit file cannot be written (${reason}); ${consequence}`, {
    hint: 'let the operator look at audit.file; audit.on_failure = "continue" would serve without lines',
    retryAfterSeconds: 1,
  });
}

function reasonOf(error: unknown): string {
  return errnoOf(error) ?? 'unknown error';
}

/** Only its owner may read a new one. Behind half a line, which a full disk may have left, a new line begins. */
async function openAtEnd(path: string): Promise<FileHandle> {
  const file = await open(path, 'a', 0o600);
  try {
    if (await endsInsideLine(path, file)) await file.write('\n');
  } catch {
    // The first line will report the fault of the file.
  }
  return file;
}

async function endsInsideLine(path: string, file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return false;
  const reader = await open(path, 'r');
  try {
    const { buffer } = await reader.read(Buffer.alloc(1), 0, 1, size - 1);
    return buffer[0] !== newline;
  } finally {
    await reader.close();
  }
}

import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sleep } from '@framehold/async';
import { Semaphore } from '../../core/async/semaphore.ts';
import { AppError } from '../../core/errors/app-error.ts';
import { errnoOf } from '../../core/errors/storage-error.ts';
import type { Handle } from '../../core/names/handle.ts';
import { storage } from '../disk/durable-file.ts';
import type { TenantDirectory } from '../disk/tenant-directory.ts';
import { leaseLost } from './process-lease.ts';

export interface SharedLocksOptions {
  readonly directory: TenantDirectory;
  readonly hasPeers: () => boolean;
  /** Takes the locks from a process of which nothing is known. */
  readonly releaseUnknown: (id: string) => Promise<void>;
  /** Aborts when the store closes. */
  readonly signal: AbortSignal;
}

/** The name of a tenant's lock, which no handle can have. */
export const tenantLock = '+tenant' as Handle;

const mostTokens = 64;
const shortestPauseMs = 2;
const longestPauseMs = 25;
/** Longer than it takes to find out that a process is dead, and to clear up after it. */
const mostWaitMs = 10_000;
/** After a write other processes get a chance: they look every few milliseconds. */
const yieldMs = 2 * shortestPauseMs;

/**
 * One writer at a time for each handle, among all processes. A lock is a folder that is moved from the process's own folder to
 * the name of the handle, which fails if one is there, and back. A process whose own folder was moved away has nothing to move
 * and nowhere to move it to: it can neither take a lock nor release another process's.
 */
export class SharedLocks {
  readonly #options: SharedLocksOptions;
  readonly #inUse = new Semaphore(mostTokens);
  readonly #tokens: string[] = [];
  readonly #givenAt = new Map<Handle, number>();
  #made = 0;

  constructor(options: SharedLocksOptions) {
    this.#options = options;
  }

  /** Whether somebody of this process waits until another lock is given free. */
  get hasWaiting(): boolean {
    return this.#inUse.waiting > 0;
  }

  /** For tasks that hold the handle's lock of this process. */
  run<T>(handle: Handle, task: () => Promise<T>): Promise<T> {
    return this.#inUse.run(async () => {
      const token = await this.#token();
      try {
        await this.#take(handle, token);
      } catch (error) {
        this.#tokens.push(token);
        throw error;
      }
      try {
        return await task();
      } finally {
        await this.#give(handle, token);
      }
    });
  }

  async #token(): Promise<string> {
    const { directory } = this.#options;
    await directory.prepare();
    const free = this.#tokens.pop();
    if (free !== undefined) return free;
    const token = directory.tokenPath(this.#made++);
    await storage(async () => {
      await mkdir(token);
      await writeFile(join(token, directory.ownId), '');
    });
    return token;
  }

  async #take(handle: Handle, token: string): Promise<void> {
    const { directory, hasPeers, signal } = this.#options;
    const sinceMs = performance.now() - (this.#givenAt.get(handle) ?? Number.NEGATIVE_INFINITY);
    if (sinceMs < yieldMs && hasPeers()) await sleep(yieldMs, signal);
    const begunAt = performance.now();
    for (let pauseMs = shortestPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 1.5)) {
      try {
        return await storage(() => rename(token, directory.lockPath(handle)));
      } catch (error) {
        const errno = errnoOf(error);
        if (errno === 'ENOENT') throw leaseLost(error);
        if (errno !== 'ENOTEMPTY' && errno !== 'EEXIST') throw error;
        if (performance.now() - begunAt > mostWaitMs) throw heldElsewhere(handle);
      }
      await sleep(pauseMs * (0.5 + Math.random()), signal);
      if (pauseMs === longestPauseMs) await this.#lookAtOwner(handle);
    }
  }

  async #lookAtOwner(handle: Handle): Promise<void> {
    const { directory, releaseUnknown } = this.#options;
    const [owner] = await readdir(directory.lockPath(handle)).catch(() => []);
    if (owner !== undefined) await releaseUnknown(owner);
  }

  async #give(handle: Handle, token: string): Promise<void> {
    const { directory, hasPeers, signal } = this.#options;
    try {
      await rename(directory.lockPath(handle), token);
      this.#tokens.push(token);
    } catch (error) {
      // If there is nothing to move, the process has lost its place, and with it the lock.
      if (errnoOf(error) !== 'ENOENT' && !signal.aborted) {
        setTimeout(() => this.#give(handle, token), longestPauseMs).unref();
      }
    }
    if (!hasPeers()) return this.#givenAt.clear();
    this.#givenAt.delete(handle);
    this.#givenAt.set(handle, performance.now());
    for (const oldest of this.#givenAt.keys()) {
      if (this.#givenAt.size <= 1000) break;
      this.#givenAt.delete(oldest);
    }
  }
}

function heldElsewhere(handle: Handle): AppError {
  const what = handle === tenantLock ? 'your tenant' : handle;
  return new AppError('overloaded', `${what} is being written by another server`, {
    hint: 'try again',
    retryAfterSeconds: 1,
  });
}

import { readFile, rename, writeFile } from 'node:fs/promises';
import { performance } from 'node:perf_hooks';
import { sleep } from '@framehold/async';
import type { Logger } from '../../core/logs/logger.ts';
import { parseChecksummed, withChecksum } from '../disk/checksummed-json.ts';
import type { FrameScrub, ScrubTurn } from './frame-scrub.ts';
import { blockBytes, UncachedReader } from './uncached-reader.ts';

export interface ScrubOptions {
  /** Time from a pass that found all frames sound to the next pass. */
  readonly intervalMs: number;
  /** Callers wait for the server. */
  readonly isBusy: () => boolean;
}

export interface ScrubberOptions extends ScrubOptions {
  /** Those of all tenants, when all of their frames are known. */
  readonly scrubs: () => Promise<readonly FrameScrub[]>;
  /** The file in which all servers of the directory note the end of such a pass. */
  readonly notePath: string;
  readonly newTemporaryPath: () => string;
  readonly now: () => number;
  readonly logger: Logger;
}

/** A server that has just started has other work. */
const firstRestMs = 60_000;
/** How often it is looked whether a pass is due: another server may have made it. */
const longestRestMs = 60_000;
const bytesPerSecond = 16 * 2 ** 20;
/** Even a server that is always busy is read through some day. */
const longestPauseMs = 30_000;
const pauseMs = 200;
const busyUtilization = 0.5;

/** Reads all frames again and again, slowly: lost data is found before the last good backup is gone. */
export class Scrubber implements AsyncDisposable {
  readonly #options: ScrubberOptions;
  readonly #controller = new AbortController();
  readonly #working: Promise<void>;
  #lastSuccessAt: number | undefined;
  #utilization = performance.eventLoopUtilization();

  constructor(options: ScrubberOptions) {
    this.#options = options;
    this.#working = this.#work().catch((error) => {
      if (!this.#controller.signal.aborted) options.logger.error('scrubbing stopped', { error: String(error) });
    });
  }

  /** When the last pass that found all frames sound ended. Undefined before the first one. */
  get lastSuccessAt(): number | undefined {
    return this.#lastSuccessAt;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#controller.abort(new Error('the store closes'));
    await this.#working;
  }

  async #work(): Promise<void> {
    const { intervalMs, now, logger } = this.#options;
    const { signal } = this.#controller;
    this.#lastSuccessAt = await this.#noted();
    let dueAt = now() + Math.min(firstRestMs, intervalMs);
    for (;;) {
      await sleep(Math.min(Math.max(0, dueAt - now()), longestRestMs), signal);
      this.#lastSuccessAt = (await this.#noted()) ?? this.#lastSuccessAt;
      if (this.#lastSuccessAt !== undefined) dueAt = Math.max(dueAt, this.#lastSuccessAt + intervalMs);
      if (now() < dueAt) continue;
      try {
        if (await this.#pass(signal)) await this.#note(now());
      } catch (error) {
        signal.throwIfAborted();
        logger.warn('frames could not be scrubbed', { error: String(error) });
      }
      dueAt = now() + intervalMs;
    }
  }

  async #pass(signal: AbortSignal): Promise<boolean> {
    const { scrubs, now, logger } = this.#options;
    const beganAt = now();
    let [isSound, isRead, blocks] = [true, true, 0];
    const beforeBlock = async (): Promise<void> => {
      blocks++;
      await this.#rest(signal);
    };
    const onFailure: ScrubTurn['onFailure'] = (handle, error) => {
      // If thousands fail for one reason, one line is enough.
      if (isRead) logger.warn('a frame could not be scrubbed', { handle, error: String(error) });
      isRead = false;
    };
    const turn = { reader: new UncachedReader(), beforeBlock, onFailure, signal };
    for (const scrub of await scrubs()) isSound = (await scrub.run(turn)) && isSound;
    isSound &&= isRead;
    logger.debug('frames were scrubbed', { isSound, ms: now() - beganAt, mebibytes: (blocks * blockBytes) / 2 ** 20 });
    return isSound;
  }

  /** As long as keeps the speed, and longer while others work. */
  async #rest(signal: AbortSignal): Promise<void> {
    await sleep((blockBytes / bytesPerSecond) * 1000, signal);
    for (let waitedMs = 0; this.#isBusy() && waitedMs < longestPauseMs; waitedMs += pauseMs)
      await sleep(pauseMs, signal);
  }

  #isBusy(): boolean {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, this.#utilization);
    this.#utilization = now;
    return utilization > busyUtilization || this.#options.isBusy();
  }

  async #noted(): Promise<number | undefined> {
    const text = await readFile(this.#options.notePath, 'utf8').catch(() => '');
    const { endedAt } = (parseChecksummed(text) ?? {}) as { readonly endedAt?: unknown };
    // A clock that was set back must not put off the next pass.
    return typeof endedAt === 'number' && endedAt <= this.#options.now() ? endedAt : undefined;
  }

  async #note(endedAt: number): Promise<void> {
    const { notePath, newTemporaryPath, logger } = this.#options;
    this.#lastSuccessAt = endedAt;
    try {
      const temporary = newTemporaryPath();
      await writeFile(temporary, withChecksum({ endedAt }), { flag: 'wx' });
      await rename(temporary, notePath);
    } catch (error) {
      logger.debug('the end of a scrub could not be noted', { error: String(error) });
    }
  }
}

import type { Logger } from '../core/logs/logger.ts';

/** A request, or a call, as the watch names it. */
export interface WatchedWork {
  /** Undefined without such a route. */
  readonly route: string | undefined;
  readonly requestId: string;
}

const tickMs = 20;
/** A longer turn is reported. */
const longTurnMs = 250;
/** After this many ticks without a request it stops looking: an idle server does not wake up for it. */
const mostIdleTicks = 250;
const windowMs = 60_000;

/** Node 20 and 22 know only the time of all threads. */
const cpuUsage =
  (process as { threadCpuUsage?: () => NodeJS.CpuUsage }).threadCpuUsage?.bind(process) ?? process.cpuUsage;

/**
 * The longest turns of the event loop, and the requests that took them. A turn is the time between two looks at due tasks: during it
 * no other request is served.
 *
 * Work for a request reports itself as it goes on: when a request begins, a piece of its body comes, its answer begins. The longest
 * time between two of these, or between the last one and the next tick, is that of the turn: the work was that of the one before, or
 * of the one behind that did not report itself. To follow each request through its promises would cost more than a hot page.
 */
export class EventLoopWatch implements Disposable {
  /** Turns of more than 250 ms, since the start. */
  longTurns = 0;
  readonly #logger: Logger;
  #timer: NodeJS.Timeout | undefined;
  #tickedMs = 0;
  #cpu: NodeJS.CpuUsage = { user: 0, system: 0 };
  #idleTicks = 0;
  #current: WatchedWork | undefined;
  #currentSinceMs = 0;
  /** Between two reports of work, since the last tick. */
  #longestMs = 0;
  #before: WatchedWork | undefined;
  #behind: WatchedWork | undefined;
  /** Longest turns of this minute and of the last one. */
  #windowSinceMs = performance.now();
  #longestTurnMs = 0;
  #lastLongestTurnMs = 0;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** The longest turn of the last one to two minutes, in milliseconds. */
  get longestMs(): number {
    this.#rollWindow(performance.now());
    return Math.max(this.#longestTurnMs, this.#lastLongestTurnMs);
  }

  /** Work for a request begins, or continues. */
  goesOn(work: WatchedWork, nowMs = performance.now()): void {
    this.#note(work, nowMs);
    this.#idleTicks = 0;
    if (this.#timer === undefined) this.#start(nowMs);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#current = undefined;
  }

  #note(work: WatchedWork | undefined, nowMs: number): void {
    const tookMs = nowMs - this.#currentSinceMs;
    if (tookMs > this.#longestMs) {
      this.#longestMs = tookMs;
      this.#before = this.#current;
      this.#behind = work;
    }
    this.#current = work;
    this.#currentSinceMs = nowMs;
  }

  #start(nowMs: number): void {
    this.#tickedMs = nowMs;
    this.#longestMs = 0;
    this.#cpu = cpuUsage();
    this.#timer = setInterval(() => this.#tick(), tickMs).unref();
  }

  #tick(): void {
    const nowMs = performance.now();
    const cpu = cpuUsage();
    const turnMs = nowMs - this.#tickedMs - tickMs;
    this.#rollWindow(nowMs);
    this.#longestTurnMs = Math.max(this.#longestTurnMs, turnMs);
    if (turnMs > longTurnMs) {
      // The request that went on last may have gone on until now.
      this.#note(this.#current, nowMs);
      this.#tell(turnMs, (cpu.user + cpu.system - this.#cpu.user - this.#cpu.system) / 1000);
    }
    this.#tickedMs = nowMs;
    this.#cpu = cpu;
    this.#longestMs = 0;
    this.#currentSinceMs = nowMs;
    if (++this.#idleTicks > mostIdleTicks) this[Symbol.dispose]();
  }

  #tell(turnMs: number, cpuMs: number): void {
    this.longTurns++;
    const [before, behind] = [this.#before, this.#behind];
    const isOther = behind !== undefined && behind !== before;
    this.#logger.warn('the event loop stood still', {
      ms: Math.round(turnMs),
      // Less than the turn if the machine had no time for this process, or the process waited for a file.
      cpuMs: Math.round(Math.min(turnMs, cpuMs)),
      route: before?.route,
      requestId: before?.requestId,
      ...(isOther && { nextRoute: behind.route, nextRequestId: behind.requestId }),
    });
  }

  #rollWindow(nowMs: number): void {
    if (nowMs - this.#windowSinceMs < windowMs) return;
    this.#lastLongestTurnMs = nowMs - this.#windowSinceMs < 2 * windowMs ? this.#longestTurnMs : 0;
    this.#longestTurnMs = 0;
    this.#windowSinceMs = nowMs;
  }
}

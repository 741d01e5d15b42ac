import { shownBytes } from '../../core/text/amounts.ts';
import { printable } from '../framework/command-failure.ts';
import type { Environment } from '../framework/environment.ts';

/** Shorter work gets no line. */
const showAfterMs = 1000;
const everyMs = 200;
const barWidth = 24;

/** A line on standard error about running work; only on a terminal, and only if it takes long. */
export class Progress implements Disposable {
  readonly #environment: Environment;
  readonly #label: string;
  readonly #totalBytes: number | undefined;
  readonly #startedMs = performance.now();
  readonly #timer: NodeJS.Timeout | undefined;
  #bytes = 0;
  /** Further text in the line. */
  note = '';
  #isShown = false;

  constructor(environment: Environment, label: string, totalBytes?: number) {
    this.#environment = environment;
    this.#label = printable(label);
    this.#totalBytes = totalBytes;
    if (environment.stderrIsTerminal) this.#timer = setInterval(() => this.#show(), everyMs).unref();
  }

  /** The same bytes, counted. */
  async *count(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const piece of bytes) {
      this.#bytes += piece.length;
      yield piece;
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    if (this.#isShown) this.#environment.stderr.write('\r\x1b[K');
    this.#isShown = false;
  }

  #show(): void {
    const seconds = (performance.now() - this.#startedMs) / 1000;
    if (seconds * 1000 < showAfterMs) return;
    this.#isShown = true;
    const known = progressLine(this.#label, this.#bytes, this.#totalBytes, seconds);
    const line = this.note === '' ? known : `${known}  ${this.note}`;
    this.#environment.stderr.write(`\r\x1b[K${line.slice(0, Math.max(10, this.#environment.terminalWidth() - 1))}`);
  }
}

export function progressLine(label: string, bytes: number, totalBytes: number | undefined, seconds: number): string {
  if (bytes === 0) return `${label}  ${Math.floor(seconds)} s`;
  const rate = bytes / seconds;
  const speed = `${shownBytes(Math.round(rate))}/s`;
  if (totalBytes === undefined || totalBytes === 0) return `${label}  ${shownBytes(bytes)}  ${speed}`;
  const share = Math.min(1, bytes / totalBytes);
  const filled = Math.floor(share * barWidth);
  const bar = `[${'#'.repeat(filled)}${'.'.repeat(barWidth - filled)}]`;
  const left = `${Math.max(0, Math.ceil((totalBytes - bytes) / rate))} s left`;
  return `${label}  ${bar} ${Math.floor(share * 100)}%  ${shownBytes(bytes)} of ${shownBytes(totalBytes)}  ${speed}  ${left}`;
}

import { LinkedAbort } from '../../core/async/linked-abort.ts';
import type { Logger } from '../../core/logs/logger.ts';
import type { SpanAttributes } from '../../core/logs/span.ts';
import { otlpTraces } from './otlp-spans.ts';
import type { EndedSpan } from './tracer.ts';

export interface SpanExporterOptions {
  /** URL for OTLP as JSON. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly resource: SpanAttributes;
  readonly version: string;
  readonly logger: Logger;
  /** Most time for a request to the collector. Default: 10 s. */
  readonly timeoutMs?: number;
}

/** More are dropped, and counted, until the collector takes some. */
const mostQueued = 2048;
const mostAtOnce = 512;
const delayMs = 5000;
const defaultTimeoutMs = 10_000;
/** After a failure. */
const pauseMs = 5000;

/** Sends spans to a collector, in the background. Nothing waits for it, and nothing fails by it. */
export class SpanExporter {
  readonly #options: SpanExporterOptions;
  #queue: EndedSpan[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  readonly #closing = new AbortController();
  #isDown = false;
  /** Since the start. */
  sent = 0;
  dropped = 0;

  constructor(options: SpanExporterOptions) {
    this.#options = options;
  }

  add(span: EndedSpan): void {
    if (this.#queue.length >= mostQueued) {
      this.dropped++;
      return;
    }
    this.#queue.push(span);
    if (this.#queue.length >= mostAtOnce && !this.#isDown) this.#sendNow();
    else this.#timer ??= setTimeout(() => this.#sendNow(), this.#isDown ? pauseMs : delayMs).unref();
  }

  /** Sends the remaining spans, within `graceMs`. */
  async close(graceMs: number): Promise<void> {
    clearTimeout(this.#timer);
    const late = setTimeout(() => this.#closing.abort(), graceMs);
    await this.#sending;
    while (this.#queue.length > 0 && !this.#isDown) await this.#send();
    clearTimeout(late);
    this.dropped += this.#queue.length;
    this.#queue = [];
  }

  #sendNow(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined;
      if (this.#queue.length > 0) this.#timer ??= setTimeout(() => this.#sendNow(), this.#isDown ? pauseMs : 0).unref();
    });
  }

  async #send(): Promise<void> {
    const { url, headers, resource, version, logger } = this.#options;
    const spans = this.#queue.slice(0, mostAtOnce);
    using limit = new LinkedAbort([this.#closing.signal], this.#options.timeoutMs ?? defaultTimeoutMs);
    try {
      const body = otlpTraces(spans, resource, version);
      const response = await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body,
        signal: limit.signal,
        redirect: 'error',
      });
      await response.arrayBuffer();
      // Spans that the collector does not understand are not sent again.
      if (isTransient(response.status)) throw new Error(`it answered ${response.status}`);
      this.#queue.splice(0, spans.length);
      if (response.ok) this.sent += spans.length;
      else {
        this.dropped += spans.length;
        logger.warn('the collector of traces refuses spans', { status: response.status, spans: spans.length });
      }
      if (this.#isDown) logger.info('the collector of traces is back');
      this.#isDown = false;
    } catch (error) {
      if (!this.#isDown) logger.warn('the collector of traces does not take spans', { reason: reasonOf(error) });
      this.#isDown = true;
    }
  }
}

function isTransient(status: number): boolean {
  return status === 429 || status === 502 || status === 503 || status === 504;
}

/** Not the address, which may have a password in it. */
function reasonOf(error: unknown): string {
  const { cause } = error as { readonly cause?: NodeJS.ErrnoException };
  return cause?.code ?? (error instanceof Error ? error.message : String(error));
}

import { randomFillSync } from 'node:crypto';
import type { Span, SpanAttributes } from '../../core/logs/span.ts';
import type { Sampler } from './sampler.ts';
import { formatTraceparent, type TraceContext } from './trace-context.ts';

/** As the protocol numbers them. */
export const spanKind = { internal: 1, server: 2 } as const;

/** A span that is over. Times on the clock of `performance.now`. */
export interface EndedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: number;
  readonly beganMs: number;
  readonly endedMs: number;
  readonly attributes: SpanAttributes;
  readonly errorType: string | undefined;
}

export interface TracerOptions {
  readonly sampler: Sampler;
  readonly onEnded: (span: EndedSpan) => void;
}

/** Decides which requests are recorded, and records them. */
export class Tracer {
  readonly #options: TracerOptions;

  constructor(options: TracerOptions) {
    this.#options = options;
  }

  /** Undefined where the request is not to be recorded. */
  begin(name: string, parent: TraceContext | undefined, attributes: SpanAttributes): Span | undefined {
    const { sampler, onEnded } = this.#options;
    if (!sampler(parent)) return undefined;
    const traceId = parent?.traceId ?? randomHex(16);
    return new RecordedSpan(
      { traceId, parentSpanId: parent?.spanId, name, kind: spanKind.server, attributes },
      onEnded,
    );
  }
}

class RecordedSpan implements Span {
  readonly traceId: string;
  readonly #spanId = randomHex(8);
  readonly #facts: Pick<EndedSpan, 'parentSpanId' | 'name' | 'kind'>;
  readonly #beganMs = performance.now();
  readonly #onEnded: (span: EndedSpan) => void;
  #attributes: SpanAttributes;
  #isOver = false;

  constructor(
    { traceId, attributes, ...facts }: Pick<EndedSpan, 'traceId' | 'parentSpanId' | 'name' | 'kind' | 'attributes'>,
    onEnded: (span: EndedSpan) => void,
  ) {
    this.traceId = traceId;
    this.#facts = facts;
    this.#attributes = attributes;
    this.#onEnded = onEnded;
  }

  get traceparent(): string {
    return formatTraceparent({ traceId: this.traceId, spanId: this.#spanId, isSampled: true });
  }

  child(name: string, attributes: SpanAttributes = {}): Span {
    const facts = { traceId: this.traceId, parentSpanId: this.#spanId, name, kind: spanKind.internal, attributes };
    return new RecordedSpan(facts, this.#onEnded);
  }

  set(attributes: SpanAttributes): void {
    this.#attributes = { ...this.#attributes, ...attributes };
  }

  end(errorType?: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onEnded({
      ...this.#facts,
      traceId: this.traceId,
      spanId: this.#spanId,
      beganMs: this.#beganMs,
      endedMs: performance.now(),
      attributes: this.#attributes,
      errorType: errorType === '' ? undefined : errorType,
    });
  }
}

/** Random bytes are drawn by the page: a call for each id costs more than all the rest. */
const pool = Buffer.alloc(4096);
let poolAt = pool.length;

function randomHex(bytes: number): string {
  if (poolAt + bytes > pool.length) {
    randomFillSync(pool);
    poolAt = 0;
  }
  poolAt += bytes;
  return pool.toString('hex', poolAt - bytes, poolAt);
}

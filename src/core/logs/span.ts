import { errorType } from '../errors/error-type.ts';

export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** A stretch of the work for one request, sent to a collector of traces at its end. */
export interface Span {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** The header of the same name, for requests to other servers. */
  readonly traceparent: string;
  /** A part of it that begins now. */
  child(name: string, attributes?: SpanAttributes): Span;
  set(attributes: SpanAttributes): void;
  /** `errorType`: the kind of a fault, in a word. */
  end(errorType?: string): void;
}

/** Runs a task as a part of a span, where there is one. */
export async function inSpan<T>(
  parent: Span | undefined,
  name: string,
  task: (span: Span | undefined) => Promise<T>,
  attributes?: SpanAttributes,
): Promise<T> {
  if (parent === undefined) return task(undefined);
  const span = parent.child(name, attributes);
  try {
    const done = await task(span);
    span.end();
    return done;
  } catch (error) {
    span.end(errorType(error));
    throw error;
  }
}

/** Begins the span of a request. `traceparent`: its header. Undefined if it is not traced. */
export type BeginSpan = (name: string, traceparent: unknown, attributes: SpanAttributes) => Span | undefined;

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '../core/logger.ts';

/** One request on its way to its answer. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The request target as it came: path and query. */
  readonly target: string;
  readonly requestId: string;
  /**
   * Go out with the answer, whatever it is: names and values in turn, as `writeHead` takes them. Objects of headers, or
   * `setHeader` before it, cost a tenth of a hot read.
   */
  readonly headers: string[];
  readonly logger: Logger;
}

/** Answers one path. What it throws becomes an error response. */
export interface Route {
  readonly path: string;
  readonly methods: readonly ('GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE')[];
  /** Answered also when too many requests are under way: health checks. */
  readonly always?: boolean;
  /** The `query` field of this request's error responses. */
  askedFor?(target: string): string | undefined;
  handle(exchange: Exchange): void | Promise<void>;
}

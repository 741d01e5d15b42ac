import type { AppError } from '../../core/errors/app-error.ts';
import type { Exchange } from './exchange.ts';
import type { Operation } from './operation.ts';

export type HttpMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Answers one path. Its error becomes an error response. */
export interface Route {
  /** For the console, which is no part of the API: neither the OpenAPI document nor errors name it. */
  readonly isOfConsole?: boolean;
  /** `{name}` matches any one segment. */
  readonly path: string;
  readonly methods: readonly HttpMethod[];
  /** Reads bodies, by `Exchange.body`. Bodies for other routes are discarded. */
  readonly takesBody?: boolean;
  /** By method, for the OpenAPI document and the reference. */
  readonly operations: Partial<Record<HttpMethod, Operation>>;
  /** Answered also with too many running requests: health checks. */
  readonly always?: boolean;
  /** The `query` field of this request's error responses, if the target has one. */
  askedFor?(target: string): string | undefined;
  /** A ticket in its query string may replace credentials. */
  readonly takesTicket?: boolean;
  /** May wait for something to happen, by `Exchange.uncount`. */
  readonly follows?: boolean;
  /** The body of its error responses, where clients of another system expect another shape. */
  errorBody?(error: AppError, exchange: Exchange): string;
  handle(exchange: Exchange): void | Promise<void>;
}

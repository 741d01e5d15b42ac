import type { AppError } from '../../core/app-error.ts';
import type { Exchange } from './exchange.ts';
import type { Operation } from './operation.ts';

export type HttpMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Answers one path. What it throws becomes an error response. */
export interface Route {
  /** Of the console, which is no part of the API: neither the OpenAPI document nor errors name it. */
  readonly isOfConsole?: boolean;
  /** `{name}` stands for any one segment. */
  readonly path: string;
  readonly methods: readonly HttpMethod[];
  /** Reads bodies, by `Exchange.body`. What others are sent is thrown away. */
  readonly takesBody?: boolean;
  /** By method, for the OpenAPI document and the reference. */
  readonly operations: Partial<Record<HttpMethod, Operation>>;
  /** Answered also when too many requests are under way: health checks. */
  readonly always?: boolean;
  /** The `query` field of this request's error responses, where the target tells it. */
  askedFor?(target: string): string | undefined;
  /** A ticket in its query string may stand for credentials. */
  readonly takesTicket?: boolean;
  /** May wait for something to happen, by `Exchange.uncount`. */
  readonly follows?: boolean;
  /** The body of its error responses, where clients of another system expect another shape. */
  errorBody?(error: AppError, exchange: Exchange): string;
  handle(exchange: Exchange): void | Promise<void>;
}

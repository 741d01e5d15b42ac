import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '../../core/logger.ts';
import type { Principal } from '../../core/principal.ts';
import type { EngineChoice } from '../../query/frame-sql.ts';
import type { Operation } from './operation.ts';

/** One request on its way to its answer. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The request target as it came: path and query. */
  readonly target: string;
  /** What stands for each `{name}` of the route's path, in order, decoded. */
  readonly segments: readonly string[];
  readonly requestId: string;
  /** Who asks. */
  readonly principal: Principal;
  /**
   * Go out with the answer, whatever it is: names and values in turn, as `writeHead` takes them. Objects of headers, or
   * `setHeader` before it, cost a tenth of a hot read.
   */
  readonly headers: string[];
  readonly logger: Logger;
  /** The `query` field of an error response, where the body of the request tells it. */
  asked?: string;
  /** Where its statement runs, once that is known. */
  engine?: EngineChoice;
}

export type HttpMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE';

/** Answers one path. What it throws becomes an error response. */
export interface Route {
  /** `{name}` stands for any one segment. */
  readonly path: string;
  readonly methods: readonly HttpMethod[];
  /** Reads bodies, by `requestBody`. What others are sent is thrown away. */
  readonly takesBody?: boolean;
  /** By method, for the OpenAPI document and the reference. */
  readonly operations: Partial<Record<HttpMethod, Operation>>;
  /** Answered also when too many requests are under way: health checks. */
  readonly always?: boolean;
  /** The `query` field of this request's error responses, where the target tells it. */
  askedFor?(target: string): string | undefined;
  handle(exchange: Exchange): void | Promise<void>;
}

/** Clients take turns, told apart by their address, and among one client's requests its connections. */
export function fairnessLane({ request }: Pick<Exchange, 'request'>): string {
  const { remoteAddress, remotePort } = request.socket;
  return `${remoteAddress}#${remotePort}`;
}

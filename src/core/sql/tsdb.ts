import type { Readable } from 'node:stream';
import type { EngineSlots } from './engine.ts';

/** The part of a client's request that is passed on to the external time-series database. */
export interface TsdbRequest {
  /** The endpoint: `/exec`, `/exp` for a file, or the one that only checks a statement. */
  readonly door: 'exec' | 'exp' | 'api/v1/sql/validate';
  /** Allow-listed query parameters, in the client's order. */
  readonly parameters: readonly (readonly [name: string, value: string])[];
  /** The header `Statement-Timeout`, as the client sent it. */
  readonly statementTimeout: string | undefined;
  /** The client's Accept-Encoding, so that an encoded body can be passed on unchanged. */
  readonly acceptEncoding: string | undefined;
}

export interface TsdbResponse {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
  readonly contentLength: string | undefined;
  readonly contentDisposition: string | undefined;
  /** The unchanged body. Must be read to its end or destroyed. */
  readonly body: Readable;
}

/** An external database with endpoints shaped like QuestDB's. */
export interface Tsdb {
  /** Rejects with AppError tsdb_unreachable, tsdb_timeout or overloaded. Aborting `signal` cancels the upstream request, also while its body streams. */
  forward(request: TsdbRequest, options: { readonly signal: AbortSignal }): Promise<TsdbResponse>;
  readonly slots: EngineSlots;
  /** From a request that found no connection until one that does. */
  readonly isDown: boolean;
  [Symbol.asyncDispose](): Promise<void>;
}

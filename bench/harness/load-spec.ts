import type { LoadSecond } from './latencies.ts';
import type { ClientOptions } from './server-process.ts';

/** The input of the load generator. */
export interface LoadSpec extends ClientOptions {
  readonly host: string;
  readonly port: number;
  /** Connections that are kept alive, with one request under way on each. */
  readonly connections: number;
  /** Request targets, taken in turn by all connections. */
  readonly paths: readonly string[];
  /** Where there are some, each request is a POST with one of them, taken in turn. */
  readonly bodies?: readonly string[] | undefined;
  /** Requests a second, over all connections. Default: as many as there can be. */
  readonly perSecond?: number | undefined;
  readonly until: { readonly ms: number } | { readonly requests: number };
}

/** Its result. */
export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly bytes: number;
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  /** Connections that the server closed between two answers. */
  readonly reconnects: number;
  readonly clientCpuSeconds: number;
  readonly bySecond: readonly LoadSecond[];
}

export type LoadMessage = { readonly result: LoadResult } | { readonly error: string };

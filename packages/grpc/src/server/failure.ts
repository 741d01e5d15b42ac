import type { OutgoingHttpHeaders } from 'node:http2';
import { CodedError } from '@framehold/columns';
import { GrpcError, type GrpcStatusName, grpcStatus } from '../wire/grpc-status.ts';
import { percentEncode } from './percent-encode.ts';

/** The client's view of a failed call. */
export interface Failure {
  readonly status: GrpcStatusName;
  readonly message: string;
  /** Further trailers. */
  readonly trailers?: Readonly<Record<string, string | number>> | undefined;
}

/** Statuses of the codes that this package throws. */
const statusOfCode: Readonly<Record<string, GrpcStatusName>> = {
  invalid_input: 'INVALID_ARGUMENT',
  too_large: 'RESOURCE_EXHAUSTED',
  not_found: 'NOT_FOUND',
};

/** Nothing is shown of an error that is neither a GrpcError nor a CodedError. */
export function failureOf(thrown: unknown): Failure {
  if (thrown instanceof GrpcError) return { status: thrown.status, message: thrown.message };
  if (!(thrown instanceof CodedError)) return { status: 'INTERNAL', message: 'internal error' };
  return { status: statusOfCode[thrown.code] ?? 'UNKNOWN', message: thrown.message };
}

export const okTrailers: OutgoingHttpHeaders = { 'grpc-status': grpcStatus.OK };

/** Text in trailers is percent-encoded. */
export function trailersOf({ status, message, trailers = {} }: Failure): OutgoingHttpHeaders {
  const all: OutgoingHttpHeaders = { 'grpc-status': grpcStatus[status], 'grpc-message': percentEncode(message) };
  for (const [name, value] of Object.entries(trailers)) {
    all[name] = typeof value === 'string' ? percentEncode(value) : value;
  }
  return all;
}

import { GrpcError } from '../wire/grpc-status.ts';

const unitMs = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 } as const;

/** The header `grpc-timeout` ("250m") in milliseconds. */
export function parseGrpcTimeoutMs(text: string): number {
  const match = /^(\d{1,8})([HMSmun])$/.exec(text);
  if (match === null) {
    const shown = JSON.stringify(text.slice(0, 40));
    throw new GrpcError('INVALID_ARGUMENT', `grpc-timeout ${shown} is not 1 to 8 digits and one of H M S m u n`);
  }
  return Number(match[1]) * unitMs[match[2] as keyof typeof unitMs];
}

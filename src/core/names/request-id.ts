import { randomBase32 } from './handle.ts';

const processPrefix = randomBase32(8);
let count = 0;

/** The client's `x-request-id`, if it is short and plain; else a new one. Both listeners share one sequence. */
export function requestIdOf(given: unknown): string {
  return typeof given === 'string' && /^[\w.-]{1,64}$/.test(given) ? given : newRequestId();
}

export function newRequestId(): string {
  count += 1;
  return `${processPrefix}-${count.toString(36)}`;
}

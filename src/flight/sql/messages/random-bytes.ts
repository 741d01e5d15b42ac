import { randomBytes } from 'node:crypto';

const poolBytes = 4096;
let pool: Buffer = Buffer.alloc(0);
let used = 0;

/** This many random bytes. Few are as slow to get as many, so they come from a pool, each byte once. */
export function pooledRandomBytes(bytes: number): Uint8Array {
  if (used + bytes > pool.length) {
    pool = randomBytes(poolBytes);
    used = 0;
  }
  used += bytes;
  return pool.subarray(used - bytes, used);
}

const leastBackgroundMs = 10 * 60_000;
/** A hundredth of the normal speed, because background work has low priority. */
const bytesPerMs = 1000;

/** Time limit for background work on `bytes` stored bytes. Work that takes longer is considered stuck. */
export function backgroundTimeoutMs(bytes: number): number {
  return leastBackgroundMs + bytes / bytesPerMs;
}

/** The child's program. Under a runner of TypeScript (tests) it is the built file: plain Node runs no `.ts`. */
export function workerEntry(): URL {
  return import.meta.url.endsWith('.ts')
    ? new URL('../../../../dist/worker.js', import.meta.url)
    : new URL('./worker.js', import.meta.url);
}

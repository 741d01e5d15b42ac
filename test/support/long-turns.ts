/**
 * Turns in which the process itself worked for longer than this: on a loaded machine others take the time. Before Node 23.9 only
 * the time of all threads is known, of which two run at a time.
 */
const longestCpuMs = 'threadCpuUsage' in process ? 250 : 500;

/** The lines of a server's log about long turns of the event loop. */
export function longTurnsIn(log: string): string[] {
  return log
    .split('\n')
    .filter(
      (line) =>
        line.includes('the event loop stood still') && Number(/cpuMs"?[:=](\d+)/.exec(line)?.[1]) > longestCpuMs,
    );
}

/** Of every test that starts a server. */
export function assertNoLongTurns(log: string): void {
  const [first] = longTurnsIn(log);
  if (first !== undefined) throw new Error(`a turn of the event loop took more than ${longestCpuMs} ms: ${first}`);
}

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { questdbJar } from './questdb-jar.ts';

const run = promisify(execFile);

let answer: Promise<string | undefined> | undefined;

/**
 * Why QuestDB cannot run here, in one line that is also printed, or undefined if it can. Throws instead under CI, where
 * a suite that silently does not run is worth nothing.
 */
export function questdbUnavailable(): Promise<string | undefined> {
  answer ??= findReason().then((reason) => {
    if (reason === undefined) return undefined;
    if (process.env.CI === 'true') throw new Error(reason);
    process.stderr.write(`skipped: ${reason}\n`);
    return reason;
  });
  return answer;
}

async function findReason(): Promise<string | undefined> {
  try {
    await run('java', ['-version']);
  } catch {
    return 'these tests need QuestDB, and there is no java (17 or later) on the PATH';
  }
  try {
    await questdbJar();
    return undefined;
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const why = missing ? 'there is no mvn on the PATH to fetch it' : `fetching it failed: ${firstLine(error)}`;
    return `these tests need QuestDB, and ${why}`;
  }
}

function firstLine(error: unknown): string {
  const stdout = error instanceof Error && 'stdout' in error ? String(error.stdout) : '';
  const [line = 'unknown reason'] = (stdout.trim() || String(error)).split('\n');
  return line.slice(0, 200).replace(/https?:\/\/\S+/g, '<registry>');
}

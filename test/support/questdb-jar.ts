import { execFile } from 'node:child_process';
import { access, constants, mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

const version = '9.3.4';
const plugin = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy';
const downloadMs = 240_000;

/** The path of QuestDB's jar, fetched through Maven unless this machine has it already. */
export async function questdbJar(): Promise<string> {
  const folder = await cacheFolder();
  const jar = join(folder, `questdb-${version}.jar`);
  const lock = `${jar}.lock`;
  for (const start = Date.now(); Date.now() - start < 2 * downloadMs; await delay(100)) {
    if (await exists(jar)) return jar;
    if (!(await tryLock(lock))) continue;
    try {
      if (!(await exists(jar))) await download(folder, jar);
      return jar;
    } finally {
      await rm(lock, { recursive: true, force: true });
    }
  }
  throw new Error(`another process has been downloading ${jar} for too long; if none is, remove ${lock}`);
}

/** The user's cache outlives a checkout; where it cannot be written, the checkout has one of its own. */
async function cacheFolder(): Promise<string> {
  const shared = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'framehold');
  try {
    await mkdir(shared, { recursive: true });
    await access(shared, constants.W_OK);
    return shared;
  } catch {
    const own = fileURLToPath(new URL('../../.cache/framehold', import.meta.url));
    await mkdir(own, { recursive: true });
    return own;
  }
}

/** A folder is the lock, since making one fails if it is there. One that is older than any download was left behind. */
async function tryLock(lock: string): Promise<boolean> {
  try {
    await mkdir(lock);
    return true;
  } catch {
    const age = await stat(lock).then(
      ({ mtimeMs }) => Date.now() - mtimeMs,
      () => 0,
    );
    if (age > downloadMs) await rm(lock, { recursive: true, force: true });
    return false;
  }
}

async function download(folder: string, jar: string): Promise<void> {
  const partial = await mkdtemp(join(folder, 'download-'));
  try {
    const artifact = `-Dartifact=org.questdb:questdb:${version}`;
    // In an empty folder: Maven would read the project of the working directory.
    await run('mvn', ['-q', '-B', plugin, artifact, `-DoutputDirectory=${partial}`], {
      cwd: partial,
      timeout: downloadMs,
    });
    await rename(join(partial, `questdb-${version}.jar`), jar);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

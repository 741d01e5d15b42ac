import { execFile } from 'node:child_process';
import { access, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cached } from './cached.ts';
import { Missing } from './missing.ts';

const run = promisify(execFile);

/**
 * The folder in which a package of Debian is unpacked, with those of its libraries that are not installed here: that needs no
 * root. `file`: one of its files, which must be there then. Throws Missing.
 */
export function debianPackage(name: string, file: string): Promise<string> {
  return cached(name, async (folder) => {
    process.stderr.write(`fetching ${name} …\n`);
    const packages = join(folder, 'packages');
    await mkdir(packages);
    try {
      const { stdout } = await run('apt-get', ['install', '--simulate', '--no-install-recommends', name]);
      const needed = [...stdout.matchAll(/^Inst (\S+)/gm)].map(([, each = '']) => each);
      // Installed, but perhaps elsewhere.
      const names = needed.length === 0 ? [name] : needed;
      await run('apt-get', ['download', ...names], { cwd: packages });
      for (const each of await readdir(packages)) await run('dpkg', ['-x', join(packages, each), folder]);
      await access(join(folder, file));
    } catch (error) {
      const [line] = String(error).split('\n');
      throw new Missing(`apt-get cannot fetch ${name} (${line})`);
    }
    await rm(packages, { recursive: true });
  });
}

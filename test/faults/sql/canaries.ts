import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { ask } from '../../support/http-client.ts';
import type { Random } from '../harness/random.ts';

/** Files with a secret in them, where statements will look for them. */
export interface Canaries {
  readonly secret: string;
  /** A statement with its names that begin with @ filled in. */
  aimed(sql: string, names: { readonly scratch: string; readonly random: Random }): string;
}

/** Plants them in these folders; the files are such that whoever reads one sees the secret. */
export async function plantCanaries(url: string, folders: readonly string[], random: Random): Promise<Canaries> {
  const secret = `canary-${random.bytes(12).toString('hex')}`;
  const { body: parquet } = await ask(`${url}/sql`, {
    method: 'POST',
    body: JSON.stringify({ sql: `select '${secret}' as a, 1 as id`, format: 'parquet' }),
  });
  const files: Readonly<Record<string, string | Buffer>> = {
    'canary.csv': `a,id\n${secret},1\n`,
    'canary.txt': `${secret}\n`,
    'canary.json': `{"a":"${secret}","id":1}\n`,
    // Where frames live, a file of Parquet is a frame.
    'canary.parquet.off': parquet,
    'canary.db': `${secret}\n`,
  };
  for (const folder of folders) {
    await mkdir(folder, { recursive: true });
    for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
    if (!folder.endsWith('cold')) await writeFile(join(folder, 'canary.parquet'), parquet);
  }
  return {
    secret,
    aimed(sql, names) {
      const folder = names.random.pick(folders);
      return sql
        .replaceAll(/@(csv|txt|json|parquet|db)\b/g, (_, ending: string) => join(folder, `canary.${ending}`))
        .replaceAll('@dir', folder)
        .replaceAll('@name', basename(folder))
        .replaceAll('@scratch', names.scratch);
    },
  };
}

/** Names and contents of all files below a folder, but for those that are left out, which may come and go meanwhile. */
export async function fingerprint(
  base: string,
  isLeftOut: (path: string) => boolean,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const folders = [base];
  for (const folder of folders) {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (isLeftOut(relative(base, path))) continue;
      found.set(path, entry.isFile() ? await sha256Of(path) : 'no file');
      if (entry.isDirectory()) folders.push(path);
    }
  }
  return found;
}

export function differences(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => before.get(name) !== after.get(name));
}

async function sha256Of(path: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
}

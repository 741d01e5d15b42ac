import { stat } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { type Finding, notOk, ok } from './finding.ts';

export interface KeptPaths {
  readonly dataDir: string;
  readonly parquetPath: string;
  readonly duckdbPath: string;
}

export interface PermissionFacts extends KeptPaths {
  /** The permissions of existing ones. */
  readonly modes: ReadonlyMap<string, number>;
  /** The bits that new files lack. */
  readonly umask: number;
}

export async function permissionFacts({ umask, ...paths }: KeptPaths & { readonly umask: number }) {
  const { dataDir, parquetPath, duckdbPath } = paths;
  const modes = new Map<string, number>();
  for (const path of new Set([dataDir, parquetPath, duckdbPath].map((each) => resolve(each)))) {
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined) modes.set(path, found.mode & 0o777);
  }
  return { ...paths, modes, umask } satisfies PermissionFacts;
}

/** Frames and tokens are below these paths: a user without access to a folder has none to its content. */
export function judgePermissions({ dataDir, parquetPath, duckdbPath, modes, umask }: PermissionFacts): Finding {
  const kept = [...new Set([parquetPath, duckdbPath].map((each) => resolve(each)))];
  const openTo = (path: string): number => {
    const above = isBelow(path, dataDir) ? (modes.get(resolve(dataDir)) ?? 0) : 0o777;
    const users = [0o070, 0o007].filter((each) => (modes.get(path) ?? 0) & umask & each && above & each);
    return users.reduce((sum, each) => sum | each, 0);
  };
  const open = kept.map((path) => ({ path, users: openTo(path) })).filter(({ users }) => users !== 0);
  if (open.length === 0) return ok('permissions', `${dataDir} has no rights that storage.umask ${octal(umask)} denies`);
  const who = open.some(({ users }) => users & 0o007) ? 'other users of this machine' : 'the group';
  const folders = [...new Set(open.map(({ path }) => (isBelow(path, dataDir) ? resolve(dataDir) : path)))];
  const found = folders.map((path) => `${path} (${octal(modes.get(path) ?? 0)})`).join(' and ');
  return notOk(
    'warn',
    'permissions',
    `${found} is open to ${who}`,
    'they reach the files of all frames, past tokens and tenants',
    `chmod -R ${denied(umask)} ${folders.map(shellWord).join(' ')}`,
  );
}

function isBelow(path: string, folder: string): boolean {
  return !relative(resolve(folder), path).startsWith('..');
}

function octal(mode: number): string {
  return mode.toString(8).padStart(3, '0');
}

/** In the form of chmod: `go-rwx`. */
function denied(umask: number): string {
  const lettersOf = (digit: number): string =>
    ['x', 'w', 'r']
      .filter((_, bit) => digit & (1 << bit))
      .reverse()
      .join('');
  const [group, others] = [lettersOf(umask >> 3), lettersOf(umask)];
  if (group === others) return `go-${group}`;
  return [...(group === '' ? [] : [`g-${group}`]), ...(others === '' ? [] : [`o-${others}`])].join(',');
}

function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

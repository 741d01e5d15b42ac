import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isWellFormed } from '../../src/auth/token.ts';
import { commandOf, familyOf } from './process-facts.ts';

const tokens = /fh[st]?_[0-9A-Za-z_.-]{30,}/g;
const jwts = /\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}/g;
const keys = /-----BEGIN [A-Z ]*PRIVATE KEY-----/g;
/** Frames are data of callers. */
const isFrame = /\.(parquet|arrow|duckdb)$/;
const mostBytes = 20_000_000;

/** Secrets that no log, error, file or command line may hold. */
export function secretsIn(text: string): string[] {
  const found = [...text.matchAll(tokens)].map(([token]) => token);
  const ours = found.filter((token) => /^fh[st]_/.test(token) || isWellFormed(token.slice(0, 39)));
  return [...ours, ...(text.match(jwts) ?? []), ...(text.match(keys) ?? [])];
}

export function assertNoSecrets(where: string, text: string): void {
  const [first] = secretsIn(text);
  if (first !== undefined) throw new Error(`${where} shows a secret: ${first.slice(0, 16)}…`);
}

/** All files of a server below its data directory, except the frames. */
export function assertNoSecretFiles(directory: string): void {
  for (const name of filesBelow(directory)) {
    const path = join(directory, name);
    if (isFrame.test(name)) continue;
    try {
      const { size } = statSync(path);
      if (size <= mostBytes) assertNoSecrets(path, readFileSync(path, 'latin1'));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    }
  }
}

/** Everybody on a machine sees the command lines of all processes. */
export function assertNoSecretCommands(pid: number): void {
  for (const each of familyOf(pid)) assertNoSecrets(`the command line of process ${each}`, commandOf(each));
}

function filesBelow(directory: string): string[] {
  try {
    return readdirSync(directory, { recursive: true, encoding: 'utf8', withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1));
  } catch {
    return [];
  }
}

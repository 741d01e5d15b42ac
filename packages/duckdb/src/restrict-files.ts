import { closeSync, mkdirSync, openSync } from 'node:fs';
import type { LibraryHandle } from 'koffi';
import { loadLibc } from './c/native-library.ts';

/** The same on every architecture. */
const createRuleset = 444;
const addRule = 445;
const restrictSelf = 446;
const askVersion = 1;
const pathBeneath = 1;
const setNoNewPrivileges = 38;

/** Writing, and making or removing anything. The right to move between folders, and to cut files short, came later. */
const writeRights = [0, 0b1_1111_1111_0010, 0b11_1111_1111_0010, 0b111_1111_1111_0010] as const;
const executeFile = 0b0001;
const readFile = 0b0100;
const readFolder = 0b1000;
/** Binding and connecting TCP sockets. */
const networkRights = 0b11;
const networkSince = 4;

/** What a process may read. */
export interface ReachableFiles {
  /** Every file below them. */
  readonly directories: readonly string[];
  /** Single files in other places. */
  readonly files: readonly string[];
  /** The kernel denies the process everything else. */
  readonly isConfined: boolean;
}

/**
 * A process that runs callers' SQL gives up the right to write outside of its spill folder, to use the network, and, if it
 * is confined, to read anything but its own files (Landlock, Linux 5.13 and later). The kernel restricts single threads, and
 * running threads keep their rights: must be called before DuckDB or Node's thread pool has any.
 * False if the kernel has no Landlock: the lock inside DuckDB is the only one then.
 */
export function restrictFiles({ directories, files, isConfined }: ReachableFiles, spillDirectory: string): boolean {
  const version = landlockVersion();
  if (version < 1) return false;
  const libc = loadLibc();
  libc.func('int prctl(int option, uint64 a, uint64 b, uint64 c, uint64 d)')(setNoNewPrivileges, 1, 0, 0, 0);
  const writes = writeRights[Math.min(version, writeRights.length - 1)] ?? 0;
  const refused = isConfined ? writes | executeFile | readFile | readFolder : writes;
  const rights = [BigInt(refused), ...(version >= networkSince ? [BigInt(networkRights)] : [])];
  const ruleset = newRuleset(libc, new BigUint64Array(rights));
  allow(libc, ruleset, ownFolder(spillDirectory), refused & ~executeFile);
  // Not to be listed: a job that gets a file gets its name.
  if (isConfined) for (const path of [...directories, ...files]) allow(libc, ruleset, path, readFile);
  const failed = libc.func('long syscall(long number, long ruleset, uint64 flags)')(restrictSelf, ruleset, 0);
  if (failed !== 0) throw new Error('the kernel has Landlock, and does not let this process use it');
  closeSync(ruleset);
  return true;
}

/** The kernel's version of Landlock; less than 1 if it has none. */
export function landlockVersion(): number {
  if (process.platform !== 'linux') return 0;
  const ask = loadLibc().func('long syscall(long number, void* none, uint64 size, uint64 flags)');
  return ask(createRuleset, null, 0, askVersion) as number;
}

function newRuleset(libc: LibraryHandle, rights: BigUint64Array): number {
  const create = libc.func('long syscall(long number, void* rights, uint64 size, uint64 flags)');
  const ruleset = create(createRuleset, new Uint8Array(rights.buffer), rights.byteLength, 0) as number;
  if (ruleset < 0) throw new Error('the kernel has Landlock, and refuses the rules');
  return ruleset;
}

/** A missing path stays out of reach, also if it is created later. */
function allow(libc: LibraryHandle, ruleset: number, path: string, rights: number): void {
  let target: number;
  try {
    target = openSync(path, 'r');
  } catch {
    return;
  }
  const rule = Buffer.alloc(12);
  rule.writeBigUInt64LE(BigInt(rights), 0);
  rule.writeInt32LE(target, 8);
  libc.func('long syscall(long number, long ruleset, long kind, void* rule, uint64 flags)')(
    addRule,
    ruleset,
    pathBeneath,
    rule,
    0,
  );
  closeSync(target);
}

/** DuckDB makes it on first use, but then it would be too late for a rule. */
function ownFolder(path: string): string {
  try {
    mkdirSync(path, { recursive: true });
  } catch {
    // Nothing can be written here: then there is no spilling.
  }
  return path;
}

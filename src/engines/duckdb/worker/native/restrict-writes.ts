/**
 * A process that runs callers' SQL gives up the right to write anywhere but where it spills, and to use the network
 * (Landlock, Linux 5.13 and later). The kernel counts that by thread, and a thread that runs already keeps its rights: so
 * this is imported before anything that may start one, and acts at once.
 */
import { closeSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import type { WorkerSettings } from '../../protocol/protocol.ts';
import { loadLibc } from './native-library.ts';

const settings = JSON.parse(process.argv[2] ?? '{}') as WorkerSettings;

/** The same on every architecture. */
const createRuleset = 444;
const addRule = 445;
const restrictSelf = 446;
const askVersion = 1;
const pathBeneath = 1;
const setNoNewPrivileges = 38;

/** Writing, and making or removing anything. The right to move between folders, and to cut files short, came later. */
const writeRights = [0, 0b1_1111_1111_0010, 0b11_1111_1111_0010, 0b111_1111_1111_0010] as const;
/** Binding and connecting TCP sockets. */
const networkRights = 0b11;
const networkSince = 4;

function restrictWrites(writable: string): void {
  const libc = loadLibc();
  libc.func('int prctl(int option, uint64 a, uint64 b, uint64 c, uint64 d)')(setNoNewPrivileges, 1, 0, 0, 0);
  const version = libc.func('long syscall(long number, void* none, uint64 size, uint64 flags)')(
    createRuleset,
    null,
    0,
    askVersion,
  );
  // Without it the lock inside DuckDB is the only one.
  if (version < 1) return;
  const hasNetwork = version >= networkSince;
  const writes = BigInt(writeRights[Math.min(version, writeRights.length - 1)] ?? 0);
  const rights = new BigUint64Array(hasNetwork ? [writes, BigInt(networkRights)] : [writes]);
  const ruleset = libc.func('long syscall(long number, void* rights, uint64 size, uint64 flags)')(
    createRuleset,
    new Uint8Array(rights.buffer),
    rights.byteLength,
    0,
  );
  const directory = openSync(writable, 'r');
  const rule = Buffer.alloc(12);
  rule.writeBigUInt64LE(writes, 0);
  rule.writeInt32LE(directory, 8);
  libc.func('long syscall(long number, long ruleset, long kind, void* rule, uint64 flags)')(
    addRule,
    ruleset,
    pathBeneath,
    rule,
    0,
  );
  closeSync(directory);
  libc.func('long syscall(long number, long ruleset, uint64 flags)')(restrictSelf, ruleset, 0);
  closeSync(ruleset);
}

if (settings.sql !== undefined && process.platform === 'linux') restrictWrites(dirname(settings.tempDirectory));

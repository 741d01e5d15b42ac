// Puts, appends, overwrites and drops frames, so many or without end, in a process of its own that a test kills.
// Says `try <n> <verb> <handle>` before each and `ack <n>` once it is held; both reach the pipe before anything else happens.
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { silentLogger } from '../../dist/core/logger.js';
import { anonymous } from '../../dist/core/principal.js';
import { DuckDbEngine } from '../../dist/engines/duckdb/duckdb-engine.js';
import { openFrameStore } from '../../dist/frames/store.js';

const [directory = '', firstNumber = '0', writes = 'Infinity'] = process.argv.slice(2);
const engineOptions = {
  workers: 1,
  threads: 1,
  memoryBytes: 200_000_000,
  tempDirectory: join(directory, 'spill'),
  maxQueue: 10,
  timeoutMs: 10_000,
  logger: silentLogger,
};
const frames = await openFrameStore({
  coldDirectory: join(directory, 'cold'),
  engine: new DuckDbEngine(engineOptions),
  backgroundEngine: new DuckDbEngine({ ...engineOptions, background: true }),
  cacheBytes: 0,
  compression: { algorithm: 'zstd', level: 3 },
  defaultTtlMs: undefined,
  tombstoneTtlMs: 3_600_000,
  logger: silentLogger,
});
writeSync(1, 'ready\n');

const { signal } = new AbortController();
const verbs = ['overwrite', 'append', 'append', 'overwrite', 'drop', 'append'];
for (let n = Number(firstNumber); n < Number(firstNumber) + Number(writes); n++) {
  const handle = `h${n % 3}`;
  const verb = verbs[n % verbs.length];
  writeSync(1, `try ${n} ${verb} ${handle}\n`);
  if (verb === 'drop') await frames.drop(anonymous, handle).catch(ignoreAbsent);
  else await put(handle, verb, n);
  writeSync(1, `ack ${n}\n`);
}

process.exit(0);

async function put(handle, mode, n) {
  const source = { kind: 'sql', sql: `SELECT ${n} AS n` };
  await frames.put(anonymous, { handle, mode, source }, { signal });
}

function ignoreAbsent(error) {
  if (error.code !== 'handle_not_found' && error.code !== 'handle_gone') throw error;
}

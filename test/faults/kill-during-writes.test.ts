import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { startFramehold } from '../support/framehold.ts';
import { ask } from '../support/http-client.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const program = fileURLToPath(new URL('./put-loop.mjs', import.meta.url));
const cycles = Number(process.env.FRAMEHOLD_KILL_CYCLES ?? 12);

type Rows = readonly number[];
/** Undefined: no frame under the handle. */
type State = Map<string, Rows | undefined>;

interface Attempt {
  readonly n: number;
  readonly verb: string;
  readonly handle: string;
}

test(
  'kill -9 at any moment of a write loses nothing that was acknowledged and shows nothing half',
  async () => {
    await using directory = await temporaryDirectory();
    let state: State = new Map();
    let next = 0;
    let acknowledged = 0;
    for (let cycle = 0; cycle < cycles; cycle++) {
      const acksBeforeKill = (cycle * 7) % 11;
      const { acked, pending } = await writeUntilKilled(directory.path, next, acksBeforeKill, cycle);
      for (const attempt of acked) state = after(state, attempt);
      acknowledged += acked.length;
      next = (pending ?? acked.at(-1) ?? { n: next - 1 }).n + 1;

      const found = await contentsAfterRestart(directory.path);
      const allowed = [state, ...(pending === undefined ? [] : [after(state, pending)])];
      expect(allowed.map(asObject), `cycle ${cycle}, pending ${JSON.stringify(pending)}`).toContainEqual(
        asObject(found),
      );
      state = found;
      expect(await leftovers(directory.path)).toEqual([]);
    }
    expect(acknowledged).toBeGreaterThanOrEqual(cycles);
  },
  20_000 + cycles * 3000,
);

/** Lets the program write until so many writes are acknowledged, and kills it within the next one. */
async function writeUntilKilled(
  directory: string,
  first: number,
  acks: number,
  cycle: number,
): Promise<{ acked: Attempt[]; pending: Attempt | undefined }> {
  const child: ChildProcess = spawn(process.execPath, [program, directory, String(first)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const acked: Attempt[] = [];
  let pending: Attempt | undefined;
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    const [word, n, verb = '', handle = ''] = line.split(' ');
    if (word === 'try') {
      pending = { n: Number(n), verb, handle };
      // Different moments inside the write: from its first step to some milliseconds in.
      if (acked.length === acks) setTimeout(() => child.kill('SIGKILL'), (cycle * 3) % 20);
    } else if (word === 'ack' && pending !== undefined) {
      acked.push(pending);
      pending = undefined;
    }
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  expect(child.signalCode).toBe('SIGKILL');
  return { acked, pending };
}

function after(state: State, { n, verb, handle }: Attempt): State {
  const rows = verb === 'drop' ? undefined : verb === 'append' ? [...(state.get(handle) ?? []), n] : [n];
  return new Map(state).set(handle, rows);
}

async function contentsAfterRestart(dataDir: string): Promise<State> {
  await using server = await startFramehold({ dataDir });
  const state: State = new Map();
  for (const handle of ['h0', 'h1', 'h2']) {
    const answer = await ask(`${server.url}/exec?handle=${handle}&fmt=json`);
    if (answer.status === 200) state.set(handle, (answer.json().dataset as number[][]).flat());
    else expect(answer.json().code).toMatch(/^handle_(gone|not_found)$/);
  }
  return state;
}

function asObject(state: State): object {
  return Object.fromEntries([...state].filter(([, rows]) => rows !== undefined).sort());
}

async function leftovers(directory: string): Promise<string[]> {
  const names = await Promise.all(
    ['tmp', 'pins'].map((folder) => readdir(join(directory, 'cold', '.framehold', folder)).catch(() => [])),
  );
  return names.flat();
}

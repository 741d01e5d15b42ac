import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { startFramehold } from '../support/framehold.ts';
import { ask } from '../support/http-client.ts';
import { leftOutWithoutStrace } from '../support/left-out.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const program = fileURLToPath(new URL('./put-loop.mjs', import.meta.url));

/** Writes number `first` and the ones after it. */
function traced(directory: string, strace: readonly string[], first: number, writes: number): ChildProcess {
  const command = [process.execPath, program, directory, String(first), String(writes)];
  return spawn('strace', ['-f', '-y', '-qq', '-s', '80', ...strace, ...command], { stdio: ['ignore', 'pipe', 'pipe'] });
}

const withoutStrace = leftOutWithoutStrace();

test.skipIf(withoutStrace)(
  'before any write is acknowledged its file, its directory and its manifest are fsynced, in this order',
  async () => {
    await using directory = await temporaryDirectory();
    const trace = join(directory.path, 'trace');
    const calls = 'trace=fsync,rename,renameat,renameat2,link,linkat,write';
    const child = traced(directory.path, ['-o', trace, '-e', calls], 0, 13);
    child.stdout?.resume();
    expect(await exited(child)).toBe(0);

    const verbs = new Set<string>();
    for (const { verb, handle, events } of writesIn(await readFile(trace, 'utf8'))) {
      verbs.add(verb);
      const record = join('.framehold', verb === 'drop' ? 'tombstones' : 'manifests', `${handle}.json`);
      const committed = events.findIndex((event) => event.kind === 'place' && event.path.endsWith(record));
      if (verb === 'drop' && committed < 0) continue;
      expect(committed, `${verb} ${handle}`).toBeGreaterThan(0);
      if (verb !== 'drop') {
        const placed = events.findIndex((event) => event.kind === 'place' && isPublic(event.path, handle));
        expect(placed, `${verb} ${handle} places its file`).toBeGreaterThan(0);
        expect(placed).toBeLessThan(committed);
      }
      for (const [at, event] of events.entries()) {
        if (event.kind !== 'place' || event.path.includes('/pins/') || event.path.includes('/tmp/')) continue;
        const synced = (path: string, from: number, to: number) =>
          events.slice(from, to).some((other) => other.kind === 'fsync' && other.path === path);
        const isOldPart = event.from.includes('/cold/h');
        expect(isOldPart || synced(event.from, 0, at), `${event.from} is fsynced before it is placed`).toBe(true);
        expect(synced(dirname(event.path), at, events.length), `${dirname(event.path)} is fsynced after`).toBe(true);
      }
    }
    expect(verbs).toEqual(new Set(['overwrite', 'append', 'drop']));
  },
);

test.skipIf(withoutStrace)('a write whose fsync fails is never acknowledged', async () => {
  await using directory = await temporaryDirectory();
  const sound = traced(directory.path, ['-o', '/dev/null', '-e', 'trace=fsync'], 0, 1);
  sound.stdout?.resume();
  expect(await exited(sound)).toBe(0);
  const failing = ['-o', '/dev/null', '-e', 'trace=fsync', '-e', 'inject=fsync:error=EIO'];
  const child = traced(directory.path, failing, 3, 1);
  let output = '';
  for await (const text of child.stdout?.setEncoding('utf8') ?? []) output += text;
  expect(await exited(child)).not.toBe(0);
  expect(output).toContain('try 3 overwrite h0');
  expect(output).not.toContain('ack');

  await using server = await startFramehold({ dataDir: directory.path });
  expect((await ask(`${server.url}/exec?handle=h0&fmt=json`)).json().dataset).toEqual([[0]]);
});

type Event =
  | { readonly kind: 'fsync'; readonly path: string }
  | { readonly kind: 'place'; readonly from: string; readonly path: string };

interface Write {
  readonly verb: string;
  readonly handle: string;
  readonly events: Event[];
}

/** The successful calls between each `try` and its `ack`. */
function writesIn(trace: string): Write[] {
  const writes: Write[] = [];
  let current: Write | undefined;
  for (const line of trace.split('\n')) {
    const tried = /write\(1<[^>]*>, "try \d+ (\w+) (\w+)/.exec(line);
    if (tried !== null) current = { verb: tried[1] ?? '', handle: tried[2] ?? '', events: [] };
    if (current === undefined) continue;
    if (/write\(1<[^>]*>, "ack/.test(line)) writes.push(current);
    const synced = /fsync\(\d+<([^>]+)>/.exec(line);
    if (synced !== null) current.events.push({ kind: 'fsync', path: synced[1] ?? '' });
    const placed =
      /(?:rename|link)(?:at2?)?\((?:AT_FDCWD[^,]*, )?"([^"]+)", (?:AT_FDCWD[^,]*, )?"([^"]+)"(?!.* = -1)/.exec(line);
    if (placed !== null) current.events.push({ kind: 'place', from: placed[1] ?? '', path: placed[2] ?? '' });
  }
  return writes;
}

function isPublic(path: string, handle: string): boolean {
  return (
    path.endsWith(`/cold/${handle}.parquet`) || path.includes(`/cold/${handle}/`) || path.endsWith(`/cold/${handle}`)
  );
}

async function exited(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode;
}

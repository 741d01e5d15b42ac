import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { isProcessAlive } from './process-id.ts';

it('a process that has ended is not alive, also before its parent has asked how it ended', async () => {
  // The shell becomes a program that never asks.
  const parent = spawn('sh', ['-c', 'sleep 0.05 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    const [line] = (await once(createInterface({ input: parent.stdout }), 'line')) as [string];
    const child = Number(line);
    await expect.poll(() => isProcessAlive(child)).toBe(false);
    // It is still there to be signalled.
    expect(process.kill(child, 0)).toBe(true);
  } finally {
    parent.kill('SIGKILL');
    await once(parent, 'exit');
  }
  expect(isProcessAlive(process.pid)).toBe(true);
  expect(isProcessAlive(parent.pid ?? 0)).toBe(false);
});

import { describe, expect, it } from 'vitest';
import {
  judgeMemory,
  judgeOpenFiles,
  judgeProcessors,
  judgeSharedMemory,
  judgeTasks,
  type ResourceFacts,
  type ResourceNeeds,
  softLimit,
} from './resources.ts';

const machine: ResourceFacts = {
  memoryBytes: 64e9,
  processors: 8,
  isMemoryLimited: false,
  isProcessorLimited: false,
  openFiles: 1_048_576,
  tasks: undefined,
  sharedMemoryBytes: 32e9,
};
const needs: ResourceNeeds = { workers: 4, threads: 1, memoryBytes: 1e9, cacheBytes: 1e9, connections: 2310 };

describe('memory', () => {
  it('is ok where it is enough for all processes at once', () => {
    expect(judgeMemory(machine, needs)).toMatchObject({ level: 'ok' });
  });

  it('is a note where it is enough for the frames alone', () => {
    const found = judgeMemory({ ...machine, memoryBytes: 8e9 }, needs);
    expect(found).toMatchObject({ level: 'note', remedy: expect.stringContaining('sql.memory_gb') });
  });

  it('is a warning with the arithmetic where a container has less than the machine', () => {
    const found = judgeMemory({ ...machine, memoryBytes: 2e9, isMemoryLimited: true }, needs);
    expect(found.level).toBe('warn');
    expect(found.found).toBe(
      'this container or service has 2.0 GB; 100 MB + cache 1.0 GB + 4 processes × 1.1 GB = 5.4 GB',
    );
  });
});

describe('shared memory', () => {
  it('is ok where each process has its 16 MiB', () => {
    expect(judgeSharedMemory(machine, needs)).toMatchObject({ level: 'ok' });
  });

  it('is a note with the size to give where a container has its 64 MB', () => {
    const found = judgeSharedMemory({ ...machine, sharedMemoryBytes: 64 * 1024 ** 2 }, needs);
    expect(found).toMatchObject({ level: 'note', remedy: expect.stringContaining('160 MiB') });
  });

  it('is a note where there is none', () => {
    expect(judgeSharedMemory({ ...machine, sharedMemoryBytes: undefined }, needs)).toMatchObject({ level: 'note' });
  });
});

describe('processors', () => {
  it.each([
    [8, 4, 'ok'],
    [1, 2, 'ok'],
    [2.5, 3, 'ok'],
    [2, 4, 'note'],
    [2, 64, 'warn'],
  ])('%d with %d workers are %s', (processors, workers, level) => {
    expect(judgeProcessors({ ...machine, processors, isProcessorLimited: true }, { ...needs, workers }).level).toBe(
      level,
    );
  });
});

describe('open files', () => {
  it('are a warning with the limit to set where connections need more', () => {
    const found = judgeOpenFiles({ ...machine, openFiles: 1024 }, needs);
    expect(found).toMatchObject({ level: 'warn', remedy: expect.stringContaining('LimitNOFILE=2620') });
    expect(found.meaning).toContain('connections');
  });

  it('are another warning where frames need more', () => {
    expect(judgeOpenFiles({ ...machine, openFiles: 256 }, needs).meaning).toContain('frames');
  });

  it('are ok without a limit', () => {
    expect(judgeOpenFiles({ ...machine, openFiles: undefined }, needs)).toMatchObject({ level: 'ok' });
  });

  it('are read from the limits of the process', () => {
    const limits =
      'Limit  Soft Limit  Hard Limit  Units\nMax processes  unlimited  unlimited  processes\nMax open files  1024  4096  files\n';
    expect([softLimit(limits, 'Max open files'), softLimit(limits, 'Max processes')]).toEqual([1024, undefined]);
  });
});

it('a limit of tasks that is too small is a warning', () => {
  expect(judgeTasks({ ...machine, tasks: 50 }, needs)).toMatchObject({ level: 'warn' });
  expect(judgeTasks({ ...machine, tasks: 4096 }, needs)).toMatchObject({ level: 'ok' });
});

import { execFileSync } from 'node:child_process';
import { constants } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { silentLogger } from '../core/logs/logger.ts';
import { AuditFile } from './audit-file.ts';

const options = { logger: silentLogger, lostLine: (lines: number) => `lost ${lines}\n` };

it('keeps the order of lines, whoever waits for one', async () => {
  await using temporary = await temporaryDirectory();
  const path = join(temporary.path, 'audit');
  const file = await AuditFile.open({ ...options, path, onFailure: 'refuse' });
  const waits = Array.from({ length: 200 }, (_, n) =>
    n % 3 === 0 ? file.appendAndWait(`${n}\n`) : file.append(`${n}\n`),
  );
  await Promise.all(waits);
  await file[Symbol.asyncDispose]();
  expect(await readFile(path, 'utf8')).toBe(Array.from({ length: 200 }, (_, n) => `${n}\n`).join(''));
});

it('has the line in the file when the wait is over', async () => {
  await using temporary = await temporaryDirectory();
  const path = join(temporary.path, 'audit');
  await using file = await AuditFile.open({ ...options, path, onFailure: 'refuse' });
  for (let n = 1; n <= 20; n++) {
    await file.appendAndWait(`${n}\n`);
    expect((await readFile(path, 'utf8')).split('\n')).toHaveLength(n + 1);
  }
});

it('writes every line at once, also while the file is opened anew', async () => {
  await using temporary = await temporaryDirectory();
  const path = join(temporary.path, 'audit');
  const file = await AuditFile.open({ ...options, path, onFailure: 'refuse' });
  let isDone = false;
  const reopening = (async () => {
    while (!isDone) await file.reopen();
  })();
  try {
    for (let n = 0; n < 3000; n++) await file.appendAndWait(`${n}\n`);
  } finally {
    isDone = true;
    await reopening;
    await file[Symbol.asyncDispose]();
  }
  expect((await readFile(path, 'utf8')).split('\n')).toHaveLength(3001);
}, 20_000);

describe.skipIf(process.platform !== 'linux')('a disk that stands still', () => {
  /** A pipe takes a little, and then nothing until it is read. */
  async function stuckFile(path: string, onFailure: 'refuse' | 'continue') {
    execFileSync('mkfifo', [path]);
    const reader = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const file = await AuditFile.open({ ...options, path, onFailure });
    const line = `${'x'.repeat(1023)}\n`;
    for (let n = 0; n < 20 * 1024; n++) file.append(line);
    return { file, reader };
  }

  async function readAll(reader: FileHandle): Promise<string> {
    const pieces: Buffer[] = [];
    for (let idle = 0; idle < 50; ) {
      const { bytesRead, buffer } = await reader
        .read(Buffer.alloc(65_536))
        .catch(() => ({ bytesRead: 0, buffer: Buffer.alloc(0) }));
      idle = bytesRead === 0 ? idle + 1 : 0;
      pieces.push(buffer.subarray(0, bytesRead));
      if (bytesRead === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return Buffer.concat(pieces).toString();
  }

  it('costs bounded memory, and the lines that were lost are counted in the file', async () => {
    await using temporary = await temporaryDirectory();
    const { file, reader } = await stuckFile(join(temporary.path, 'audit'), 'continue');
    expect(() => file.assertWorks()).not.toThrow();
    const text = await readAll(reader);
    await file[Symbol.asyncDispose]();
    await reader.close();
    const kept = text.split('\n').filter((line) => line.startsWith('x')).length;
    expect(kept).toBeLessThan(9 * 1024);
    expect(text.split('\n').at(-2)).toBe(`lost ${20 * 1024 - kept}`);
  });

  it('refuses what needs a line', async () => {
    await using temporary = await temporaryDirectory();
    const { file, reader } = await stuckFile(join(temporary.path, 'audit'), 'refuse');
    expect(() => file.assertWorks()).toThrow('too many lines wait for the disk');
    await expect(file.appendAndWait('change\n')).rejects.toMatchObject({ code: 'audit_unavailable' });
    await readAll(reader);
    expect(() => file.assertWorks()).not.toThrow();
    await file[Symbol.asyncDispose]();
    await reader.close();
  });
});

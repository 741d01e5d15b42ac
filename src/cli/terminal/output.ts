import { randomBytes } from 'node:crypto';
import { open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { quoteValue } from '../../config/given-value.ts';
import { CommandFailure, systemReason } from '../framework/command-failure.ts';
import type { Environment } from '../framework/environment.ts';
import { isBinary } from '../framework/file-format.ts';

/** The target of a result: a file, or standard output for undefined and `-`. */
export type OutputPath = string | undefined;

export function isStandardOutput(path: OutputPath): path is undefined | '-' {
  return path === undefined || path === '-';
}

export function assertNotBinaryOnTerminal(environment: Environment, path: OutputPath, format: string): void {
  if (!environment.stdoutIsTerminal || !isStandardOutput(path) || !isBinary(format)) return;
  throw new CommandFailure(
    `${format} is binary and would garble the terminal`,
    'write it to a file with -o, or pipe it on',
  );
}

/** Writes all of it. A file is under another name until it is whole. */
export async function writeOutput(
  environment: Environment,
  path: OutputPath,
  bytes: AsyncIterable<Uint8Array>,
): Promise<void> {
  if (isStandardOutput(path)) await writeStream(environment.stdout, bytes);
  else await writeFile(environment.cwd, path, bytes);
}

/** A reader that goes away, such as `head`, has enough. */
async function writeStream(stream: Writable, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const piece of bytes) {
    if (stream.destroyed || stream.errored) return;
    if (!stream.write(piece)) await writable(stream);
  }
}

function writable(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      stream.off('drain', settle).off('close', settle).off('error', settle);
      resolve();
    };
    if (stream.destroyed || stream.errored) settle();
    else stream.on('drain', settle).on('close', settle).on('error', settle);
  });
}

/** `given` is below `cwd`, and named in errors as it is. */
async function writeFile(cwd: string, given: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  const path = resolve(cwd, given);
  const inPlace = await isSpecial(path, given);
  const target = inPlace ? path : join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.part`);
  const onFailure = (error: unknown): never => {
    throw unwritable(given, error);
  };
  const file = await open(target, inPlace ? 'w' : 'wx').catch(onFailure);
  try {
    for await (const piece of bytes) await file.writeFile(piece).catch(onFailure);
    if (!inPlace) await file.sync().catch(onFailure);
    await file.close();
    if (!inPlace) await rename(target, path).catch(onFailure);
  } catch (error) {
    await file.close().catch(() => {});
    if (!inPlace) await rm(target, { force: true });
    throw error;
  }
}

/** A device or a pipe cannot be put in place by a rename. */
async function isSpecial(path: string, given: string): Promise<boolean> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) throw new CommandFailure(`${given} is a directory`, 'name a file in it');
    return !found.isFile();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw unwritable(given, error);
  }
}

function unwritable(path: string, thrown: unknown): unknown {
  const reason = systemReason(thrown);
  return reason === undefined ? thrown : new CommandFailure(`cannot write ${quoteValue(path)}: ${reason}`);
}

import { mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { DurableFiles } from './durable-file.ts';

/** Makes a directory and those above it that are missing, such that all of them are there after a power cut. */
export async function makeDirectory(path: string): Promise<void> {
  const made = await mkdir(path, { recursive: true });
  if (made === undefined) return;
  const durable = new DurableFiles();
  const top = resolve(made);
  for (let at = resolve(path); at.length >= top.length; at = dirname(at)) await durable.syncDirectory(dirname(at));
}

import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { ContentCoding } from '../../exchange/content-coding.ts';

/** A file of the console in its sent form. */
export interface Asset {
  readonly contentType: string;
  readonly bytes: Buffer;
  readonly coded: Partial<Record<ContentCoding, Buffer>>;
  /** Hash of its content. */
  readonly id: string;
}

const contentTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The files of the build's folder, by name. None without that folder. */
export async function readAssets(folder: string): Promise<ReadonlyMap<string, Asset>> {
  const names = new Set(await readdir(folder).catch(() => []));
  const assets = new Map<string, Asset>();
  for (const name of names) {
    const contentType = contentTypes[extname(name)];
    if (contentType === undefined) continue;
    const read = (ending: string) =>
      names.has(`${name}${ending}`) ? readFile(join(folder, `${name}${ending}`)) : undefined;
    const [bytes, br, gzip] = await Promise.all([readFile(join(folder, name)), read('.br'), read('.gz')]);
    assets.set(name, {
      contentType,
      bytes,
      coded: { ...(br !== undefined && { br }), ...(gzip !== undefined && { gzip }) },
      id: hash('sha256', bytes).slice(0, 16),
    });
  }
  return assets;
}

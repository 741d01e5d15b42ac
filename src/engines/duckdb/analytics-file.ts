import { type FileHandle, open, stat } from 'node:fs/promises';

const magicAt = 8;
const magic = 'DUCK';

export type AnalyticsFile = 'absent' | 'database' | 'other';

/** Kind of the file at the operator's analytics database path, by DuckDB's magic bytes. An empty file counts as none. */
export async function inspectAnalyticsFile(path: string): Promise<AnalyticsFile> {
  let file: FileHandle;
  try {
    file = await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'absent';
    throw error;
  }
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(magicAt + magic.length), 0, magicAt + magic.length, 0);
    if (bytesRead === 0) return 'absent';
    return bytesRead === buffer.length && buffer.toString('latin1', magicAt) === magic ? 'database' : 'other';
  } finally {
    await file.close();
  }
}

/** Changes whenever the database, or its log, has been written. Undefined if there is none. */
export async function analyticsFileState(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  const [file, log] = await Promise.all([path, `${path}.wal`].map(stateOf));
  return file === undefined ? undefined : `${file} ${log ?? ''}`;
}

async function stateOf(path: string): Promise<string | undefined> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  return found === undefined ? undefined : `${found.dev} ${found.ino} ${found.size} ${found.mtimeNs}`;
}

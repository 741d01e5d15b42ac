import { stat } from 'node:fs/promises';
import { defaultTenant, type Tenant } from '../../core/callers/principal.ts';
import { AppError, isTransient } from '../../core/errors/app-error.ts';
import type { Handle } from '../../core/names/handle.ts';
import type { FrameEngine } from '../../core/rows/frame-engine.ts';
import { DefinitionFolder } from '../disk/definition-folder.ts';
import { DurableFiles } from '../disk/durable-file.ts';
import { type Manifest, parseManifest } from '../disk/manifest.ts';
import { type FileIdentity, sameFiles } from '../disk/part.ts';
import { onlooker, otherTenants, TenantDirectory } from '../disk/tenant-directory.ts';
import { LogDamaged, LogFolder } from '../log/log-folder.ts';
import { isReplaced } from '../reconcile/assess-handle.ts';

export interface FrameVerdict {
  readonly tenant: Tenant;
  readonly handle: Handle;
  /** Undefined when the frame is sound. */
  readonly fault: string | undefined;
  /** Whether there was a checksum of ours to hold the bytes against; files from outside have none. */
  readonly isChecksummed: boolean;
}

/** For a macro or a type, whose file is damaged. */
export interface DefinitionFault {
  readonly tenant: Tenant;
  /** Its file, without the ending. */
  readonly definition: string;
}

/** Reads every byte of every frame, macro and type and changes nothing: safe beside a running server. */
export async function* verifyDirectory(
  coldDirectory: string,
  engine: FrameEngine,
  { signal }: { readonly signal: AbortSignal },
): AsyncGenerator<FrameVerdict | DefinitionFault, void, undefined> {
  for (const tenant of await tenantsOf(coldDirectory)) {
    const directory = new TenantDirectory(coldDirectory, tenant, new DurableFiles(), onlooker);
    const { files, folders, manifests } = await directory.list();
    for (const handle of [...new Set([...files, ...folders, ...manifests])].sort()) {
      if (directory.isReserved(handle)) continue;
      const found = await verifyFrame(directory, handle, engine, signal);
      if (found !== undefined) yield { tenant, handle, ...found };
    }
    const definitions = new DefinitionFolder(directory.definitionsFolder, new DurableFiles());
    for (const definition of await definitions.damaged()) yield { tenant, definition };
  }
}

type Finding = Pick<FrameVerdict, 'fault' | 'isChecksummed'>;

/** A frame may be put, recompressed or dropped while it is read. */
const mostLooks = 5;

/** Undefined if there is no frame: another folder, or a dropped frame. */
async function verifyFrame(
  directory: TenantDirectory,
  handle: Handle,
  engine: FrameEngine,
  signal: AbortSignal,
): Promise<Finding | undefined> {
  let before = await lookAt(directory, handle);
  for (let look = 1; ; look++) {
    const finding = await judge(directory, before, engine, signal);
    const after = await lookAt(directory, handle);
    if (finding?.fault === undefined || look === mostLooks || sameLook(before, after)) return finding;
    before = after;
  }
}

interface Seen {
  readonly lying: readonly FileIdentity[];
  readonly manifest: Manifest | undefined;
  /** The files are those of the manifest, or copies of them. */
  readonly isKnown: boolean;
  /** Its manifest exists and cannot be read. */
  readonly isDamaged: boolean;
  /** Its manifest is unreadable, and there is a log whose rows need it. */
  readonly mayLackRows: boolean;
}

async function lookAt(directory: TenantDirectory, handle: Handle): Promise<Seen> {
  const text = await directory.readRecord('manifests', handle);
  const manifest = text === undefined ? undefined : parseManifest(text, handle);
  const { file, folder } = await directory.look(handle);
  const lasting = folder.filter((found) => manifest === undefined || !isReplaced(manifest, found));
  const candidates = [...(file === undefined ? [] : [[file]]), lasting];
  // A copy that keeps times, as a backup elsewhere is, has other inodes, and the bytes should be the same.
  const known = candidates.find((files) => manifest !== undefined && sameCopies(files, manifest.parts));
  const isDamaged = text !== undefined && manifest === undefined;
  return {
    lying: known ?? candidates[0] ?? [],
    manifest,
    isKnown: known !== undefined,
    isDamaged,
    mayLackRows: isDamaged && (await new LogFolder(directory, new DurableFiles()).list(handle)).length > 0,
  };
}

function sameCopies(files: readonly FileIdentity[], parts: readonly FileIdentity[]): boolean {
  const withoutInode = (list: readonly FileIdentity[]): FileIdentity[] => list.map((file) => ({ ...file, ino: '' }));
  return sameFiles(withoutInode(files), withoutInode(parts));
}

function sameLook(a: Seen, b: Seen): boolean {
  return (
    sameFiles(a.lying, b.lying) &&
    a.manifest?.versionId === b.manifest?.versionId &&
    a.isKnown === b.isKnown &&
    a.isDamaged === b.isDamaged &&
    a.mayLackRows === b.mayLackRows
  );
}

async function judge(
  directory: TenantDirectory,
  { lying, manifest, isKnown, isDamaged, mayLackRows }: Seen,
  engine: FrameEngine,
  signal: AbortSignal,
): Promise<Finding | undefined> {
  if (lying.length === 0) {
    if (manifest?.view !== undefined) return { fault: undefined, isChecksummed: true };
    if (isDamaged) return { fault: 'its manifest is not readable, and it has no files', isChecksummed: true };
    return manifest === undefined ? undefined : { fault: 'its files are missing', isChecksummed: true };
  }
  if (mayLackRows) {
    return { fault: 'its manifest is not readable, and rows of it may be in its log', isChecksummed: true };
  }
  const sums = lying.map((_, index) => (isKnown ? (manifest?.parts[index]?.checksum ?? null) : null));
  for (const [index, { file }] of lying.entries()) {
    const sum = sums[index] ?? null;
    const fault = await faultOf(directory, file, sum, engine, signal);
    if (fault !== undefined) return { fault: `${file}: ${fault}`, isChecksummed: sum !== null };
  }
  const isChecksummed = sums.every((sum) => sum !== null);
  return {
    fault: manifest !== undefined && isKnown ? await logFaultOf(directory, manifest) : undefined,
    isChecksummed,
  };
}

/** The fault of rows that are not in Parquet yet. */
async function logFaultOf(directory: TenantDirectory, manifest: Manifest): Promise<string | undefined> {
  try {
    await new LogFolder(directory, new DurableFiles()).read(manifest);
    return undefined;
  } catch (error) {
    if (error instanceof LogDamaged) return error.message;
    throw error;
  }
}

async function faultOf(
  directory: TenantDirectory,
  file: string,
  checksum: string | null,
  engine: FrameEngine,
  signal: AbortSignal,
): Promise<string | undefined> {
  const path = directory.path(file);
  try {
    if (checksum === null) await readAll(path, engine, signal);
    else if (!(await engine.hasChecksum(path, checksum, { signal })))
      return 'its bytes are not those that were written';
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof AppError && !isTransient(error)) return error.message;
    if ((await directory.identify(path)) === undefined) return 'it is missing';
    throw error;
  }
}

/** Without a checksum only decoding shows damage, and not all of it. */
async function readAll(path: string, engine: FrameEngine, signal: AbortSignal): Promise<void> {
  const { rows, columns } = await engine.probe(path, { signal });
  const job = { parts: [{ path, rows }], columns, form: 'exec-json', fromRow: 0, toRow: rows } as const;
  if (rows > 0) for await (const _ of engine.read({ ...job, chunkRows: 8192 }, { signal }));
}

export async function tenantsOf(coldDirectory: string): Promise<Tenant[]> {
  if (!(await stat(coldDirectory).catch(() => undefined))?.isDirectory()) {
    throw new AppError('invalid_input', `there is no directory ${coldDirectory}`, {
      hint: 'name the data directory with --data-dir, or the cold directory with --parquet-path',
    });
  }
  return [defaultTenant, ...(await otherTenants(coldDirectory))];
}

import type { Column, DeclaredType } from '@framehold/columns';
import type { Producer } from '../../core/callers/producer.ts';
import { type Handle, randomBase32 } from '../../core/names/handle.ts';
import { isReadAsDeclared, takesOtherValues } from '../../core/rows/type-in-frame.ts';
import type { TableConstraints } from '../../core/sql/table-constraints.ts';
import { parseChecksummed, withChecksum } from './checksummed-json.ts';
import type { FileIdentity, Part } from './part.ts';

/** A saved query. */
export interface ViewDefinition {
  /** As its author wrote it. */
  readonly sql: string;
  /** The text that runs: every table under its whole name, and the columns under those of the view. */
  readonly query: string;
  /** Its sources: a handle, or `owner/handle` for a frame of another tenant. */
  readonly reads: readonly string[];
}

/** The facts of one version of a frame. */
export interface Manifest {
  readonly handle: Handle;
  /** 1, 2, …; continues after a drop as long as the tombstone is remembered. */
  readonly version: number;
  /** Unique among all versions of all frames. */
  readonly versionId: string;
  /** The id of the frame's first version. Absent: it is this one. A frame that is made anew after a drop has another. */
  readonly origin?: string | undefined;
  /** The id of the version that began these rows; versions that only append keep it. Absent: it is this one, of an earlier build. */
  readonly lineage?: string | undefined;
  readonly createdAt: number;
  readonly ttlMs: number | null;
  readonly columns: readonly Column[];
  /** The types that SQL declared for columns that the frame keeps in another type; null or absent for other columns. */
  readonly declared?: readonly (DeclaredType | null)[] | undefined;
  /** Rows were added whose values were not checked against the declared types. */
  readonly hasUncheckedRows?: true | undefined;
  readonly constraints?: TableConstraints | undefined;
  /** A view: it has columns, and no parts. */
  readonly view?: ViewDefinition | undefined;
  readonly parts: readonly Part[];
  /** Files that this version superseded and that are removed as soon as it is committed. */
  readonly replaces: readonly FileIdentity[];
  /** The last parts, of this number, are moved into the folder one by one: until all are there, none counts. */
  readonly partsAdded?: number | undefined;
  /** The progress of each producer of the rows. */
  readonly producers?: readonly Producer[] | undefined;
}

const format = 2;
/** Its parts have the checksum as `sha256`. */
const firstFormat = 1;

type FirstPart = Omit<Part, 'checksum'> & { readonly sha256: string | null };

export function encodeManifest(manifest: Manifest): string {
  return withChecksum({ format, ...manifest });
}

/** Undefined if the text is torn, edited, of another format or of another handle: then none of it is used. */
export function parseManifest(text: string, handle: Handle): Manifest | undefined {
  const value = parseChecksummed(text) as ({ readonly format: unknown } & Manifest) | undefined;
  if (value === undefined || value.handle !== handle) return undefined;
  const { format: found, ...manifest } = value;
  if (found === format) return manifest;
  if (found !== firstFormat) return undefined;
  return { ...manifest, parts: (value.parts as readonly unknown[]).map((part) => ofFirstFormat(part as FirstPart)) };
}

function ofFirstFormat({ sha256, ...part }: FirstPart): Part {
  return { ...part, checksum: sha256 === null ? null : `sha256:${sha256}` };
}

/** Equal for two versions of the same frame: overwriting and appending keep it. */
export function originOf({ origin, versionId }: Pick<Manifest, 'origin' | 'versionId'>): string {
  return origin ?? versionId;
}

/** Within one, rows are only added: a row keeps its number. */
export function lineageOf({ lineage, versionId }: Pick<Manifest, 'lineage' | 'versionId'>): string {
  return lineage ?? versionId;
}

/** Equal for versions that only add rows to each other. */
export function contentIdOf(manifest: Pick<Manifest, 'lineage' | 'versionId' | 'columns'>): string {
  return `${lineageOf(manifest)}.${manifest.columns.length}`;
}

/** The id of a version that has grown to this number of rows, in parts and log. */
export function grownVersionId(manifest: Pick<Manifest, 'lineage' | 'versionId' | 'columns'>, rows: number): string {
  return `${contentIdOf(manifest)}.${rows}`;
}

/** The types as which SQL reads the columns; null for a column's own type. Undefined: all have their own. */
export function typesReadAs({ declared, hasUncheckedRows }: Manifest): Manifest['declared'] {
  const types = declared?.map((type) => {
    const isSafe = type !== null && isReadAsDeclared(type) && !(hasUncheckedRows && takesOtherValues(type));
    return isSafe ? type : null;
  });
  return types?.some((type) => type !== null) ? types : undefined;
}

/** Whether rows that were not checked against the declared types must be marked as such. */
export function needsCheckedRows({
  declared,
  hasUncheckedRows,
}: Pick<Manifest, 'declared' | 'hasUncheckedRows'>): boolean {
  return !hasUncheckedRows && (declared?.some((type) => type !== null && takesOtherValues(type)) ?? false);
}

/** The columns, types and constraints of a frame. */
export type FrameDefinition = Pick<Manifest, 'columns' | 'declared' | 'constraints'>;

/** By which it is seen whether rows, or changes of them, that were made for one version fit another. */
export function definitionOf({ columns, declared, constraints }: FrameDefinition): string {
  return JSON.stringify([columns, declared ?? null, constraints ?? null]);
}

export function newVersionId(): string {
  return randomBase32(26);
}

/** For a version that begins a lineage. */
export function newLineage(): Required<Pick<Manifest, 'versionId' | 'lineage'>> {
  const versionId = newVersionId();
  return { versionId, lineage: versionId };
}

/** The first builds of 0.1.0 wrote neither, and had no logs. */
export function mayPassOverLogs({ origin, lineage }: Pick<Manifest, 'origin' | 'lineage'>): boolean {
  return origin === undefined && lineage === undefined;
}

export function rowsOf(parts: readonly Part[]): number {
  return parts.reduce((sum, part) => sum + part.rows, 0);
}

export function totalBytes(files: readonly { readonly size: number }[]): number {
  return files.reduce((sum, file) => sum + file.size, 0);
}

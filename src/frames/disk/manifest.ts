import { type Column, type DeclaredType, isReadAsDeclared, takesOtherValues } from '../../core/data-type.ts';
import { type Handle, randomBase32 } from '../../core/handle.ts';
import type { Producer } from '../../core/producer.ts';
import type { TableConstraints } from '../../core/table-constraints.ts';
import { parseChecksummed, withChecksum } from './checksummed-json.ts';
import type { FileIdentity, Part } from './part.ts';

/** A saved query. */
export interface ViewDefinition {
  /** As its author wrote it. */
  readonly sql: string;
  /** The same with every table under its whole name, and the columns under those of the view: what is run. */
  readonly query: string;
  /** What it reads: by its handle, or by `owner/handle` where that is another tenant's. */
  readonly reads: readonly string[];
}

/** What is known of one version of a frame. */
export interface Manifest {
  readonly handle: Handle;
  /** 1, 2, …; goes on after a drop as long as the tombstone is remembered. */
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
  /** What SQL declared each column as, where the frame keeps another type; null or absent where it does not. */
  readonly declared?: readonly (DeclaredType | null)[] | undefined;
  /** Rows were added whose values nobody held against the declared types. */
  readonly hasUncheckedRows?: true | undefined;
  readonly constraints?: TableConstraints | undefined;
  /** A view: it has columns, and no parts. */
  readonly view?: ViewDefinition | undefined;
  readonly parts: readonly Part[];
  /** Files that this version superseded and that go as soon as it is committed. */
  readonly replaces: readonly FileIdentity[];
  /** The last so many parts come into the folder one by one: until all of them are there, none of them counts. */
  readonly partsAdded?: number | undefined;
  /** How far each producer of the rows is. */
  readonly producers?: readonly Producer[] | undefined;
}

const format = 2;
/** Its parts have the checksum as `sha256`. */
const firstFormat = 1;

type FirstPart = Omit<Part, 'checksum'> & { readonly sha256: string | null };

export function encodeManifest(manifest: Manifest): string {
  return withChecksum({ format, ...manifest });
}

/** Undefined when the text is torn, edited, of another format or of another handle: then it is not believed at all. */
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

/** Says whether two versions are of the same frame: one that was overwritten or appended to stays it. */
export function originOf({ origin, versionId }: Pick<Manifest, 'origin' | 'versionId'>): string {
  return origin ?? versionId;
}

/** Within one, rows are only added: a row keeps its number. */
export function lineageOf({ lineage, versionId }: Pick<Manifest, 'lineage' | 'versionId'>): string {
  return lineage ?? versionId;
}

/** Of versions that only add rows to each other. */
export function contentIdOf(manifest: Pick<Manifest, 'lineage' | 'versionId' | 'columns'>): string {
  return `${lineageOf(manifest)}.${manifest.columns.length}`;
}

/** The id of a version that has grown to so many rows, wherever they lie. */
export function grownVersionId(manifest: Pick<Manifest, 'lineage' | 'versionId' | 'columns'>, rows: number): string {
  return `${contentIdOf(manifest)}.${rows}`;
}

/** What SQL reads each column as; null where that is the column's own type. Undefined: all of them are. */
export function typesReadAs({ declared, hasUncheckedRows }: Manifest): Manifest['declared'] {
  const types = declared?.map((type) => {
    const isSafe = type !== null && isReadAsDeclared(type) && !(hasUncheckedRows && takesOtherValues(type));
    return isSafe ? type : null;
  });
  return types?.some((type) => type !== null) ? types : undefined;
}

/** Whether rows that nobody held against the declared types must be noted as such. */
export function needsCheckedRows({
  declared,
  hasUncheckedRows,
}: Pick<Manifest, 'declared' | 'hasUncheckedRows'>): boolean {
  return !hasUncheckedRows && (declared?.some((type) => type !== null && takesOtherValues(type)) ?? false);
}

/** What is told of the rows of a frame beside the rows. */
export type FrameDefinition = Pick<Manifest, 'columns' | 'declared' | 'constraints'>;

/** By which it is seen whether rows, or changes of them, that were made for one version fit another. */
export function definitionOf({ columns, declared, constraints }: FrameDefinition): string {
  return JSON.stringify([columns, declared ?? null, constraints ?? null]);
}

export function newVersionId(): string {
  return randomBase32(26);
}

/** Of a version that begins its rows, and says so. */
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

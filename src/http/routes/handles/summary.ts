import type { ByteCache } from '../../../cache/byte-cache.ts';
import type { Principal } from '../../../core/callers/principal.ts';
import { isSharedName, maySeeQuery } from '../../../core/names/frame-name.ts';
import type { ForeignKey, TableConstraints } from '../../../core/sql/table-constraints.ts';
import { type ExecColumn, execColumn } from '../../../encoding/rows/exec-column.ts';
import type { FrameSummary, HeldSummary } from '../../../frames/catalog/frame-summary.ts';
import type { JsonSchema } from '../../exchange/parameters.ts';

/** A column, with the parts of its definition beyond its type. */
export interface HandleColumn extends ExecColumn {
  readonly nullable?: false;
  readonly default?: string;
  readonly generated?: string;
}

/** Those of more than one column. Only lists that are not empty. */
export interface HandleConstraints {
  readonly primaryKey?: readonly string[];
  readonly unique?: readonly (readonly string[])[];
  readonly checks?: readonly string[];
  readonly foreignKeys?: readonly ForeignKey[];
}

/** A frame as the doors of /handles show it. */
export interface HandleSummary {
  readonly handle: string;
  /** Set if another tenant shares it. */
  readonly shared?: true;
  readonly kind: 'frame' | 'view';
  readonly state: FrameSummary['state'];
  readonly version: number;
  readonly versionId: string | null;
  readonly rows: number | null;
  readonly columns: readonly HandleColumn[] | null;
  readonly constraints?: HandleConstraints;
  readonly bytes: { readonly cold: number; readonly hot: number };
  readonly created: string | null;
  readonly ttl: number | null;
  readonly expires: string | null;
  readonly damaged: string | null;
  /** For a view whose query the caller may see: the query, and its sources. */
  readonly sql?: string;
  readonly reads?: readonly string[];
}

export function handleSummary(principal: Principal, frame: FrameSummary, cache: ByteCache): HandleSummary {
  const { handle, state, version } = frame;
  const shared = isSharedName(handle) && ({ shared: true } as const);
  if (state === 'damaged') {
    const nothing = { versionId: null, rows: null, columns: null, created: null, ttl: null, expires: null };
    return {
      handle,
      ...shared,
      kind: 'frame',
      state,
      version,
      ...nothing,
      bytes: { cold: frame.bytes, hot: 0 },
      damaged: frame.reason,
    };
  }
  const { versionId, contentId, rows, constraints, createdAt, ttlMs, expiresAt, view } = frame;
  return {
    handle,
    ...shared,
    kind: view === undefined ? 'frame' : 'view',
    state,
    version,
    versionId,
    rows: view === undefined ? rows : null,
    columns: handleColumns(frame),
    ...(constraints !== undefined && { constraints: handleConstraints(constraints) }),
    bytes: { cold: frame.bytes, hot: cache.bytesOf(versionId) + cache.bytesOf(contentId) },
    created: isoTime(createdAt),
    ttl: ttlMs === null ? null : ttlMs / 1000,
    expires: expiresAt === undefined ? null : isoTime(expiresAt),
    damaged: null,
    ...(view !== undefined && maySeeQuery(principal, handle, view.reads) && { sql: view.sql, reads: view.reads }),
  };
}

function handleColumns({ columns, constraints }: HeldSummary): readonly HandleColumn[] {
  if (constraints === undefined) return columns.map(execColumn);
  const notNull = new Set(constraints.notNull);
  const defaults = new Map(constraints.defaults.map(({ column, sql }) => [column, sql]));
  const generated = new Map(constraints.generated.map(({ column, sql }) => [column, sql]));
  return columns.map((column) => {
    const { name } = column;
    const [value, expression] = [defaults.get(name), generated.get(name)];
    return {
      ...execColumn(column),
      ...(notNull.has(name) && { nullable: false as const }),
      ...(value !== undefined && { default: value }),
      ...(expression !== undefined && { generated: expression }),
    };
  });
}

function handleConstraints({ primaryKey, unique, checks, foreignKeys }: TableConstraints): HandleConstraints {
  return {
    ...(primaryKey !== undefined && { primaryKey: primaryKey.columns }),
    ...(unique.length > 0 && { unique: unique.map(({ columns }) => columns) }),
    ...(checks.length > 0 && { checks: checks.map(({ sql }) => sql) }),
    ...(foreignKeys.length > 0 && { foreignKeys }),
  };
}

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

export const columnSchema: JsonSchema = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    type: { type: 'string', examples: ['LONG', 'VARCHAR', 'DECIMAL(10,2)'] },
    dim: { type: 'integer', description: 'Dimensions of an ARRAY.' },
    elemType: { type: 'string', description: 'What an ARRAY holds.' },
  },
  required: ['name', 'type'],
};

const nullable = (type: string, description: string, more: object = {}): JsonSchema => ({
  type: [type, 'null'],
  description,
  ...more,
});

const names: JsonSchema = { type: 'array', items: { type: 'string' } };

const handleColumnSchema: JsonSchema = {
  ...columnSchema,
  properties: {
    ...(columnSchema.properties as object),
    nullable: { type: 'boolean', const: false, description: 'The column takes no NULL.' },
    default: { type: 'string', description: 'The expression of its DEFAULT.' },
    generated: { type: 'string', description: 'The expression that gives its values.' },
  },
};

const constraintsSchema: JsonSchema = {
  type: 'object',
  description: 'What CREATE TABLE said beyond its columns. Keys are not enforced.',
  properties: {
    primaryKey: names,
    unique: { type: 'array', items: names },
    checks: names,
    foreignKeys: {
      type: 'array',
      items: {
        type: 'object',
        properties: { name: { type: 'string' }, columns: names, table: { type: 'string' }, references: names },
        required: ['columns', 'table'],
      },
    },
  },
};

export const handleSchema: JsonSchema = {
  type: 'object',
  description: 'A frame or a view. What is not known of a damaged one is null.',
  properties: {
    handle: { type: 'string', description: '`owner/handle` where another tenant shares it.' },
    shared: { type: 'boolean', const: true, description: 'It is a frame of another tenant, to be read.' },
    kind: { type: 'string', enum: ['frame', 'view'] },
    state: { type: 'string', enum: ['held', 'damaged'] },
    version: { type: 'integer', description: 'Grows with each put, append and overwrite.' },
    versionId: nullable('string', 'Names these rows for good.'),
    rows: nullable('integer', 'How many; null of a view.'),
    columns: { type: ['array', 'null'], items: handleColumnSchema },
    constraints: constraintsSchema,
    bytes: {
      type: 'object',
      properties: {
        cold: { type: 'integer', description: 'On disk, as stored.' },
        hot: { type: 'integer', description: 'In memory, ready to be sent.' },
      },
      required: ['cold', 'hot'],
    },
    created: nullable('string', 'When the frame was first put or last overwritten.', { format: 'date-time' }),
    ttl: nullable('number', 'Its time to live in seconds; null: it stays.'),
    expires: nullable('string', 'When it goes unless it is read before.', { format: 'date-time' }),
    damaged: nullable('string', 'What is wrong with it.'),
    sql: {
      type: 'string',
      description:
        'The query of a view: only for its own tenant, and not for a token whose prefix hides what it reads.',
    },
    reads: {
      type: 'array',
      items: { type: 'string' },
      description: 'What a view reads, for whoever sees its query.',
    },
  },
  required: [
    'handle',
    'kind',
    'state',
    'version',
    'versionId',
    'rows',
    'columns',
    'bytes',
    'created',
    'ttl',
    'expires',
    'damaged',
  ],
};

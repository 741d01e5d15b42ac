import type { ByteCache } from '../../../cache/byte-cache.ts';
import { isSharedName } from '../../../core/frame-name.ts';
import { type ExecColumn, execColumn } from '../../../encoding/rows/exec-column.ts';
import type { FrameSummary } from '../../../frames/catalog/frame-summary.ts';
import type { JsonSchema } from '../../exchange/parameters.ts';

/** A frame as the doors of /handles show it. */
export interface HandleSummary {
  readonly handle: string;
  /** Where another tenant shares it. */
  readonly shared?: true;
  readonly state: FrameSummary['state'];
  readonly version: number;
  readonly versionId: string | null;
  readonly rows: number | null;
  readonly columns: readonly ExecColumn[] | null;
  readonly bytes: { readonly cold: number; readonly hot: number };
  readonly created: string | null;
  readonly ttl: number | null;
  readonly expires: string | null;
  readonly damaged: string | null;
}

export function handleSummary(frame: FrameSummary, cache: ByteCache): HandleSummary {
  const { handle, state, version } = frame;
  const shared = isSharedName(handle) && ({ shared: true } as const);
  if (state === 'damaged') {
    const nothing = { versionId: null, rows: null, columns: null, created: null, ttl: null, expires: null };
    return {
      handle,
      ...shared,
      state,
      version,
      ...nothing,
      bytes: { cold: frame.bytes, hot: 0 },
      damaged: frame.reason,
    };
  }
  const { versionId, contentId, rows, columns, createdAt, ttlMs, expiresAt } = frame;
  return {
    handle,
    ...shared,
    state,
    version,
    versionId,
    rows,
    columns: columns.map(execColumn),
    bytes: { cold: frame.bytes, hot: cache.bytesOf(versionId) + cache.bytesOf(contentId) },
    created: isoTime(createdAt),
    ttl: ttlMs === null ? null : ttlMs / 1000,
    expires: expiresAt === undefined ? null : isoTime(expiresAt),
    damaged: null,
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

export const handleSchema: JsonSchema = {
  type: 'object',
  description: 'A frame. What is not known of a damaged one is null.',
  properties: {
    handle: { type: 'string', description: '`owner/handle` where another tenant shares it.' },
    shared: { type: 'boolean', const: true, description: 'It is a frame of another tenant, to be read.' },
    state: { type: 'string', enum: ['held', 'damaged'] },
    version: { type: 'integer', description: 'Grows with each put, append and overwrite.' },
    versionId: nullable('string', 'Names these rows for good.'),
    rows: nullable('integer', 'How many.'),
    columns: { type: ['array', 'null'], items: columnSchema },
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
  },
  required: [
    'handle',
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

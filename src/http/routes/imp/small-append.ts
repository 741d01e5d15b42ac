import { atOnce, inTurns, lightBytes } from '@framehold/async';
import type { Batch, Column } from '@framehold/columns';
import type { Principal } from '../../../core/callers/principal.ts';
import { AppError } from '../../../core/errors/app-error.ts';
import type { FrameName } from '../../../core/names/frame-name.ts';
import type { FileReport } from '../../../core/rows/frame-engine.ts';
import { csvBatch } from '../../../encoding/csv/csv-batch.ts';
import { jsonBatch } from '../../../encoding/text/json-batch.ts';
import type { PutResult } from '../../../frames/catalog/frame-summary.ts';
import type { Frames } from '../../../frames/frames.ts';
import type { PutRequest } from '../../../frames/write/put-frame.ts';
import { mostSmallBytes } from '../../../frames/write/small-source.ts';
import type { UploadReader } from '../../body/upload-reader.ts';

interface SmallText {
  readonly format: 'csv' | 'tsv' | 'json' | 'ndjson';
  readonly delimiter: string | undefined;
  readonly hasHeader: boolean | undefined;
}

interface AppendContext {
  readonly principal: Principal;
  readonly frames: Pick<Frames, 'appendColumns' | 'put' | 'describe'>;
  readonly signal: AbortSignal;
  readonly lane: string;
}

/**
 * Appends a small text to an existing frame, without a worker or a file. Undefined if it must go that way, with nothing taken
 * from the reader: only certain values are read here, and the errors are those of the import.
 */
export async function appendSmall(
  reader: UploadReader,
  text: SmallText,
  request: Omit<PutRequest, 'source'>,
  { principal, frames, signal, lane }: AppendContext,
): Promise<PutResult | undefined> {
  const { handle, mode } = request;
  if (mode !== 'append' || handle === undefined || (await reader.fill(mostSmallBytes + 1))) return undefined;
  try {
    const known = frames.appendColumns(principal, handle);
    const columns = known ?? (await columnsOf(frames, principal, handle, signal));
    const steps = columns && readText(reader.buffered, text, columns);
    const read = steps && (await (reader.buffered.length > lightBytes ? inTurns(steps, lane) : atOnce(steps)));
    if (read === undefined) return undefined;
    const source = { kind: 'batch', batch: read.batch } as const;
    return { ...(await frames.put(principal, { ...request, source }, { signal, lane })), report: read.report };
  } catch (error) {
    // Another server may have replaced the frame: the import looks it up again.
    if (error instanceof AppError && error.code === 'schema_mismatch') return undefined;
    throw error;
  }
}

async function columnsOf(
  frames: AppendContext['frames'],
  principal: Principal,
  handle: FrameName,
  signal: AbortSignal,
): Promise<readonly Column[] | undefined> {
  try {
    const frame = await frames.describe(principal, handle, { signal });
    return frame.state === 'held' ? frame.columns : undefined;
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

function* readText(
  bytes: Uint8Array,
  { format, delimiter, hasHeader }: SmallText,
  columns: readonly Column[],
): Generator<void, { readonly batch: Batch; readonly report: FileReport } | undefined> {
  const none = { rejectedRows: 0, rejections: [] };
  if (format === 'json' || format === 'ndjson') {
    const batch = yield* jsonBatch(bytes, columns);
    return batch && { batch, report: none };
  }
  const options = { columns, hasHeader, delimiter: format === 'tsv' ? (delimiter ?? '\t') : delimiter };
  const csv = yield* csvBatch(bytes, options);
  return csv && { batch: csv.batch, report: { ...none, delimiter: csv.delimiter, hasHeader: csv.hasHeader } };
}

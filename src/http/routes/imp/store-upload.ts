import type { Column } from '@framehold/columns';
import type { Principal } from '../../../core/callers/principal.ts';
import type { Producer } from '../../../core/callers/producer.ts';
import { AppError } from '../../../core/errors/app-error.ts';
import type { FileFormatName } from '../../../core/rows/file-format.ts';
import type { FileFormat } from '../../../core/rows/frame-engine.ts';
import { didYouMeanName } from '../../../core/text/did-you-mean.ts';
import type { PutResult } from '../../../frames/catalog/frame-summary.ts';
import type { Frames } from '../../../frames/frames.ts';
import { decodeBody } from '../../body/decode-body.ts';
import { UploadReader } from '../../body/upload-reader.ts';
import type { BodyLimits } from '../../exchange/request-body.ts';
import type { ImportCommand } from './command.ts';
import type { Upload } from './open-upload.ts';
import type { TypesByColumn } from './schema.ts';
import { appendSmall } from './small-append.ts';
import { formatOf, headBytes, namedFormat, packingOf } from './upload-format.ts';
import { type Spooled, spool } from './upload-spool.ts';

interface StoreUploadContext {
  readonly principal: Principal;
  /** For an append. */
  readonly producer: Producer | undefined;
  readonly frames: Pick<Frames, 'appendColumns' | 'put' | 'describe' | 'temporaryFile'>;
  readonly limits: Pick<BodyLimits, 'maxBodyBytes' | 'takeMemory' | 'lane'>;
  readonly signal: AbortSignal;
  readonly lane: string;
}

export interface StoredUpload {
  readonly put: PutResult;
  readonly format: FileFormatName;
}

/** Keeps an upload as a frame. Arrow streams into it; the other formats are read from a file, so they become one first. */
export async function storeUpload(
  upload: Upload,
  command: ImportCommand,
  context: StoreUploadContext,
): Promise<StoredUpload> {
  const { principal, producer, frames, limits, signal, lane } = context;
  const named = namedFormat({
    asked: command.format,
    contentType: upload.contentType,
    names: [upload.fileName, command.handle],
  });
  const types = typesOf(upload, command);
  const reader = await openFile(upload, limits);
  try {
    const format = formatOf(named, reader.buffered);
    checkOptions(format, command, types);
    const { handle, mode, ttlMs, timestamp } = command;
    const check = timestamp === undefined ? undefined : timestampCheck(timestamp);
    const request = { handle, mode, ttlMs, check, producer };
    if (format === 'arrow') {
      const source = { kind: 'arrow', stream: reader.rest() } as const;
      return { format, put: await frames.put(principal, { ...request, source }, { signal, lane }) };
    }
    const hasHeader = command.hasHeader ?? headerOf(upload.contentType);
    if (format !== 'parquet' && types === undefined) {
      const text = { format, delimiter: command.delimiter, hasHeader };
      const put = await appendSmall(reader, text, request, context);
      if (put !== undefined) return { format, put };
    }
    await using file = await frames.temporaryFile(principal, lane);
    const { isPlainText } = await spool(file.counted(reader.rest()), file.path, limits.takeMemory);
    const source = {
      kind: 'file',
      path: file.path,
      format: fileFormat(format, { ...command, hasHeader, isPlainText }, types),
    } as const;
    return { format, put: await frames.put(principal, { ...request, source }, { signal, lane }) };
  } finally {
    reader.release();
  }
}

/** At the first bytes of the file, out of the archive that it may be in. */
export async function openFile(upload: Upload, limits: StoreUploadContext['limits']): Promise<UploadReader> {
  const packed = new UploadReader(upload.body);
  await packed.fill(headBytes);
  const packing = packingOf(packed.buffered);
  const reader = packing === undefined ? packed : new UploadReader(decodeBody(packed.rest(), [packing], limits));
  if (await reader.fill(1)) {
    await reader.fill(headBytes);
    return reader;
  }
  throw new AppError('invalid_input', upload.isForm ? 'the part data is empty' : 'the body is empty', {
    hint: 'send the file as curl --data-binary @file or curl -F data=@file does',
  });
}

/** As RFC 4180 lets a sender say it. */
export function headerOf(contentType: string | undefined): boolean | undefined {
  const [, word] = /;\s*header\s*=\s*"?(present|absent)\b/i.exec(contentType ?? '') ?? [];
  return word === undefined ? undefined : word.toLowerCase() === 'present';
}

export function typesOf(upload: Upload, command: ImportCommand): TypesByColumn | undefined {
  if (upload.types !== undefined && command.types !== undefined) {
    throw new AppError('invalid_parameter', 'schema is given as a parameter and as a part of the form', {
      hint: 'give it once',
    });
  }
  return command.types ?? upload.types;
}

/** Refuses options without an effect: they are mistakes. */
export function checkOptions(
  format: FileFormatName,
  { delimiter }: ImportCommand,
  types: TypesByColumn | undefined,
): void {
  if (delimiter !== undefined && format !== 'csv' && format !== 'tsv') {
    throw new AppError('invalid_parameter', `delimiter is given, but the body is ${format}`, {
      hint: 'leave it out, or name the right format',
    });
  }
  if (types !== undefined && (format === 'parquet' || format === 'arrow')) {
    throw new AppError('invalid_parameter', `schema is given, but ${format} has types of its own`, {
      hint: 'leave it out, and cast with SQL where other types are wanted',
    });
  }
}

export function fileFormat(
  format: Exclude<FileFormatName, 'arrow'>,
  { delimiter, hasHeader, isPlainText, skipsBadRows }: ImportCommand & Spooled,
  types: TypesByColumn | undefined,
): FileFormat {
  switch (format) {
    case 'csv':
      return { kind: 'csv', delimiter, hasHeader, isPlainText, types, skipsBadRows };
    case 'tsv':
      return { kind: 'csv', delimiter: delimiter ?? '\t', hasHeader, isPlainText, types, skipsBadRows };
    case 'json':
    case 'ndjson':
      return { kind: 'json', types, skipsBadRows };
    case 'parquet':
      return { kind: 'parquet' };
    default:
      return format satisfies never;
  }
}

function timestampCheck(name: string): (columns: readonly Column[]) => void {
  return (columns) => {
    const column = columns.find((each) => each.name === name);
    if (column?.type.kind === 'timestamp') return;
    const shown = JSON.stringify(name.slice(0, 100));
    throw column === undefined
      ? new AppError(
          'invalid_parameter',
          `there is no column ${shown} for timestamp${didYouMeanName(
            name,
            columns.map((each) => each.name),
          )}`,
        )
      : new AppError('invalid_parameter', `column ${shown} for timestamp is not a timestamp`, {
          hint: `say how it is written: schema=[{"name":${shown},"type":"TIMESTAMP","pattern":"…"}]`,
        });
  };
}

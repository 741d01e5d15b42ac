import {
  type FlatbufferTable,
  InvalidArrow,
  type MessageHead,
  type ReceivedField,
  readMessageHead,
  readSchema,
} from '@framehold/arrow-ipc';
import { ConnectFailure } from '@framehold/spark-connect';
import { AppError } from '../../core/errors/app-error.ts';

const continuation = 0xffff_ffff;
const prefixBytes = 8;

/** One message of Arrow IPC, with its prefix. */
interface IpcMessage extends MessageHead {
  readonly bytes: Uint8Array;
}

export interface BatchMessage {
  readonly rows: number;
  readonly bytes: Uint8Array;
}

/** One answer of the cluster: an Arrow IPC stream of its own. */
export interface ResultBatch {
  readonly rows: number;
  /** The schema's message; each answer repeats it. */
  readonly schema: Uint8Array;
  readonly fields: () => ReceivedField[];
  /** Those of dictionaries and record batches. */
  readonly messages: readonly BatchMessage[];
  /** Record batches that are not compressed, and nothing else. */
  readonly isPlain: boolean;
}

/** Splits an answer without reading the values. `rowCount` is the cluster's number of rows. */
export function readResultBatch(data: Uint8Array, rowCount: bigint): ResultBatch {
  try {
    const [schema, ...messages] = ipcMessages(data);
    if (schema?.kind !== 'schema') throw new InvalidArrow('no schema');
    const read = messages.map(({ kind, header, rows, bytes }) => ({
      rows,
      bytes,
      isPlain: kind === 'batch' && header.table(3) === undefined,
    }));
    const rows = read.reduce((sum, each) => sum + each.rows, 0);
    if (BigInt(rows) !== rowCount) throw new InvalidArrow(`${rows} rows where ${rowCount} are announced`);
    return {
      rows,
      schema: schema.bytes,
      fields: () => fieldsOf(schema.header),
      messages: read,
      isPlain: read.every((each) => each.isPlain),
    };
  } catch (thrown) {
    if (!(thrown instanceof InvalidArrow)) throw thrown;
    throw new ConnectFailure('DATA_LOSS', `an answer is not valid Arrow: ${thrown.message}`, { cause: thrown });
  }
}

/** The engine may send schemas that no reader of ours accepts: no column at all, or types nested without end. */
function fieldsOf(schema: FlatbufferTable): ReceivedField[] {
  try {
    return readSchema(schema);
  } catch (thrown) {
    if (!(thrown instanceof InvalidArrow)) throw thrown;
    throw unreadableResult(thrown.message, thrown);
  }
}

export function unreadableResult(why: string, cause?: unknown): AppError {
  return new AppError('unsupported_type', `the result cannot be read: ${why}`, {
    hint: 'ask for other columns, or cast them in the query',
    cause,
  });
}

function* ipcMessages(data: Uint8Array): Generator<IpcMessage> {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  for (let at = 0; at < data.length; ) {
    if (data.length - at < prefixBytes || view.getUint32(at, true) !== continuation)
      throw new InvalidArrow('no message');
    const headerBytes = view.getUint32(at + 4, true);
    if (headerBytes === 0) return;
    const bodyAt = at + prefixBytes + headerBytes;
    if (bodyAt > data.length) throw new InvalidArrow('a header beyond the end');
    const head = readMessageHead(data.subarray(at + prefixBytes, bodyAt));
    const end = bodyAt + head.bodyBytes;
    if (end > data.length) throw new InvalidArrow('a body beyond the end');
    yield { ...head, bytes: data.subarray(at, end) };
    at = end;
  }
}

import { AppError } from '../errors/app-error.ts';

/** Marks an append, so that a repeated one is recognised. Counted for each frame. */
export interface Producer {
  readonly id: string;
  /** A producer that begins anew takes the next epoch; earlier ones are refused then. */
  readonly epoch: number;
  /** 0, 1, 2, … within an epoch. */
  readonly seq: number;
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

export const longestProducerId = 256;
const names = ['Producer-Id', 'Producer-Epoch', 'Producer-Seq'] as const;

/** The producer that an append names by its headers, or by the metadata of a call. Undefined where it names none. */
export function parseProducer(headers: Headers): Producer | undefined {
  const id = headers['producer-id'];
  const epoch = headers['producer-epoch'];
  const seq = headers['producer-seq'];
  if (id === undefined && epoch === undefined && seq === undefined) return undefined;
  if (typeof id !== 'string' || typeof epoch !== 'string' || typeof seq !== 'string') throw incomplete(headers);
  if (!/^[\x20-\x7e]{1,256}$/.test(id)) {
    throw invalid('Producer-Id', id, `it is 1 to ${longestProducerId} printable ASCII characters`);
  }
  return { id, epoch: parseNumber('Producer-Epoch', epoch), seq: parseNumber('Producer-Seq', seq) };
}

/** Only appends have producers. */
export function refuseProducer(producer: Producer | undefined, what: string): void {
  if (producer === undefined) return;
  throw new AppError('invalid_parameter', `a producer is given, and ${what}`, {
    hint: 'Producer-Id, Producer-Epoch and Producer-Seq are for appends',
  });
}

function parseNumber(name: string, text: string): number {
  const number = /^(?:0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(number)) return number;
  throw invalid(name, text, `it is a whole number from 0 to ${Number.MAX_SAFE_INTEGER}`);
}

function invalid(name: string, text: string, hint: string): AppError {
  const shown = JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
  return new AppError('invalid_parameter', `${name} ${shown} is not valid`, { hint });
}

function incomplete(headers: Headers): AppError {
  const missing = names.filter((name) => headers[name.toLowerCase()] === undefined);
  return new AppError(
    'missing_parameter',
    `${missing.join(' and ')} of the producer ${missing.length === 1 ? 'is' : 'are'} missing`,
    {
      hint: 'send Producer-Id, Producer-Epoch and Producer-Seq, or none of them',
    },
  );
}

import { AppError } from '../../core/app-error.ts';
import type { Producer } from '../../core/producer.ts';
import type { Operation } from './operation.ts';
import { invalidParameter } from './parameters.ts';

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

const longestId = 256;
const wholeNumber = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const;

/** For the operations of routes that append. */
export const producerHeaders = {
  'Producer-Id': {
    description:
      'Marks the append, so that one that is sent again adds no second rows: 1 to 256 printable ASCII characters. With `Producer-Epoch` and `Producer-Seq`, or none of them.',
    schema: { type: 'string', minLength: 1, maxLength: longestId },
  },
  'Producer-Epoch': {
    description:
      'A producer that begins anew takes a higher one. Appends of an older epoch are refused (`producer_fenced`).',
    schema: wholeNumber,
  },
  'Producer-Seq': {
    description:
      'The number of the append within its epoch and frame: 0, 1, 2 and so on. A number that was seen is acknowledged again, a gap is refused (`producer_gap`).',
    schema: wholeNumber,
  },
} as const satisfies NonNullable<Operation['headers']>;

/** The producer that an append names by its headers. Undefined where it names none. */
export function parseProducer(headers: Headers): Producer | undefined {
  const id = headers['producer-id'];
  const epoch = headers['producer-epoch'];
  const seq = headers['producer-seq'];
  if (id === undefined && epoch === undefined && seq === undefined) return undefined;
  if (typeof id !== 'string' || typeof epoch !== 'string' || typeof seq !== 'string') throw incomplete(headers);
  if (!/^[\x20-\x7e]{1,256}$/.test(id)) {
    throw invalidParameter('Producer-Id', id, `it is 1 to ${longestId} printable ASCII characters`);
  }
  return { id, epoch: parseNumber('Producer-Epoch', epoch), seq: parseNumber('Producer-Seq', seq) };
}

function parseNumber(name: string, text: string): number {
  const number = /^(?:0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(number)) return number;
  throw invalidParameter(name, text, `it is a whole number from 0 to ${Number.MAX_SAFE_INTEGER}`);
}

function incomplete(headers: Headers): AppError {
  const missing = Object.keys(producerHeaders).filter((name) => headers[name.toLowerCase()] === undefined);
  return new AppError(
    'missing_parameter',
    `${missing.join(' and ')} of the producer ${missing.length === 1 ? 'is' : 'are'} missing`,
    {
      hint: 'send Producer-Id, Producer-Epoch and Producer-Seq, or none of them',
    },
  );
}

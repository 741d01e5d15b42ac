import { longestProducerId } from '../../core/callers/producer.ts';
import type { Operation } from './operation.ts';

const wholeNumber = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const;

/** For the operations of routes that append. */
export const producerHeaders = {
  'Producer-Id': {
    description:
      'Marks the append, so that one that is sent again adds no second rows: 1 to 256 printable ASCII characters. With `Producer-Epoch` and `Producer-Seq`, or none of them.',
    schema: { type: 'string', minLength: 1, maxLength: longestProducerId },
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

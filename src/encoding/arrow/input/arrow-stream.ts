import { DictionaryStore } from './arrow-dictionary-store.ts';
import { InvalidArrow } from './arrow-flatbuffer.ts';
import { type ArrowMessage, invalidAt } from './arrow-messages.ts';
import { type ArrowField, readSchema } from './arrow-schema.ts';

/** What the first message of a stream tells of all others. */
export function readFirst({ kind, header }: ArrowMessage): { fields: ArrowField[]; dictionaries: DictionaryStore } {
  if (kind !== 'schema') throw new InvalidArrow('the stream does not begin with a schema');
  const fields = readSchema(header);
  return { fields, dictionaries: new DictionaryStore(fields) };
}

/** Says where in the stream an error stands. */
export function readAt<T>(message: ArrowMessage, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof InvalidArrow ? invalidAt(message, error.message, { cause: error }) : error;
  }
}

import { expect, test } from 'vitest';
import { ingestMode } from './ingest.ts';

test.each([
  ['create', 1, 1, { mode: 'create', mustExist: false }],
  ['append', 2, 2, { mode: 'append', mustExist: true }],
  ['replace', 1, 3, { mode: 'overwrite', mustExist: false }],
  ['create or append', 1, 2, { mode: 'append', mustExist: false }],
  ['replace what must be there', 2, 3, { mode: 'overwrite', mustExist: true }],
])('%s', (_, ifNotExist, ifExists, expected) => {
  expect(ingestMode({ ifNotExist, ifExists })).toEqual(expected);
});

test.each([
  [undefined, 'if_not_exist is not specified'],
  [{ ifNotExist: 0, ifExists: 1 }, 'if_not_exist is not specified'],
  [{ ifNotExist: 1, ifExists: 0 }, 'if_exists is not specified'],
  [{ ifNotExist: 9, ifExists: 1 }, 'if_not_exist is 9, which is not known'],
  [{ ifNotExist: 2, ifExists: 1 }, 'nothing could be ingested'],
])('%j is refused', (definition, message) => {
  expect(() => ingestMode(definition)).toThrow(message);
});

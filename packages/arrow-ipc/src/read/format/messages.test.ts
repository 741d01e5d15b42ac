import { CodedError } from '@framehold/columns';
import * as arrow from 'apache-arrow';
import { describe, expect, test } from 'vitest';
import { i64, message, schemaMessage } from '../../../../../test/support/arrow-stream-writer.ts';
import { arrowMessages, maxBodyBytes } from './messages.ts';
import { readSchema } from './schema.ts';

const table = new arrow.Table({
  n: arrow.vectorFromArray([1, 2, 3], new arrow.Int32()),
  s: arrow.vectorFromArray(['a', null, 'c'], new arrow.Dictionary(new arrow.Utf8(), new arrow.Int8())),
});
const stream = Buffer.from(arrow.tableToIPC(table, 'stream'));

const fileMagic = Buffer.from('ARROW1\0\0');
const file = Buffer.concat([fileMagic, stream, Buffer.from('an index, which is not read'), fileMagic.subarray(0, 6)]);
const endMark = fileMagic.length + stream.length - 8;

async function* pieces(bytes: Uint8Array, size = 1024): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function kindsOf(bytes: Uint8Array, size?: number): Promise<string[]> {
  const kinds: string[] = [];
  for await (const { kind } of arrowMessages(pieces(bytes, size))) kinds.push(kind);
  return kinds;
}

describe('a stream of apache-arrow', () => {
  test.each([1, 3, 8, 4096])('is cut into its messages from pieces of %i bytes', async (size) => {
    expect(await kindsOf(stream, size)).toEqual(['schema', 'dictionary', 'batch']);
  });

  test('may end without the end mark', async () => {
    expect(await kindsOf(stream.subarray(0, stream.length - 8))).toEqual(['schema', 'dictionary', 'batch']);
  });

  test('gives its schema with names, types and dictionaries', async () => {
    const messages = arrowMessages(pieces(stream));
    const first = await messages.next();
    if (first.done === true) throw new Error('no schema');
    expect(readSchema(first.value.header)).toMatchObject([
      { name: 'n', type: { kind: 'int', bits: 32, signed: true }, dictionary: undefined },
      { name: 's', type: { kind: 'bytes', text: true }, dictionary: { index: { kind: 'int', bits: 8, signed: true } } },
    ]);
  });
});

describe('a file', () => {
  test.each([1, 3, 4096])(
    'is cut into the messages between its beginning and its index (pieces of %i bytes)',
    async (size) => {
      expect(await kindsOf(file, size)).toEqual(['schema', 'dictionary', 'batch']);
    },
  );

  test('needs its end mark, but not its index', async () => {
    expect(await kindsOf(file.subarray(0, endMark + 8))).toEqual(['schema', 'dictionary', 'batch']);
  });
});

describe('a broken stream is refused with the place of the fault', () => {
  const secondMessage = 8 + stream.readInt32LE(4);
  test.each([
    ['cut inside the first prefix', stream.subarray(0, 6), /message 1 at byte 0: the stream ends inside it/],
    ['cut inside the metadata', stream.subarray(0, 40), /message 1 at byte 0: the stream ends inside it/],
    [
      'cut in the second message',
      stream.subarray(0, secondMessage + 9),
      new RegExp(`message 2 at byte ${secondMessage}: the stream ends`),
    ],
    ['a file cut before its end mark', file.subarray(0, endMark), /: the file ends without its end mark/],
    [
      'a file without a schema before its rows',
      Buffer.from(arrow.tableToIPC(table, 'file')),
      /message 1 at byte 8: the file has its schema only at its end/,
    ],
    [
      'a file of Polars 2, whose first bytes are no message',
      Buffer.concat([file.subarray(0, 8), Buffer.from('04000000f2ffffff1400000004000100', 'hex')]),
      /message 1 at byte 8: the file has its schema only at its end/,
    ],
    ['a file that is nothing but its beginning', file.subarray(0, 8), /message 1 at byte 8: the file ends/],
    ['of something else', Buffer.from('{"rows": []}'), /message 1 at byte 0: it does not begin with FFFFFFFF/],
    ['with bytes behind its end', Buffer.concat([stream, stream]), /bytes follow the end of the stream/],
    ['with metadata of a negative size', Buffer.from('ffffffff00000080', 'hex'), /metadata claims -2147483648 bytes/],
    ['with metadata of a vast size', Buffer.from('ffffffffffffff7f', 'hex'), /metadata claims 2147483647 bytes/],
    [
      'with metadata of zeros',
      Buffer.concat([Buffer.from('ffffffff10000000', 'hex'), Buffer.alloc(16)]),
      /message 1 at byte 0: /,
    ],
    [
      'with an unknown kind of message',
      message(4, {}, new Uint8Array(0)),
      /neither a schema, a dictionary nor a record batch/,
    ],
    ['with metadata of version V3', message(1, {}, new Uint8Array(0), 2), /metadata version 2/],
  ])('%s', async (_, bytes, words) => {
    const error = await kindsOf(bytes).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CodedError);
    expect(error).toMatchObject({ code: 'invalid_input', message: expect.stringMatching(words) });
  });

  test('a body that claims more than a message may hold is too large', async () => {
    const claim = message(3, { 0: i64(0) }, new Uint8Array(0), 4, maxBodyBytes + 8);
    const error = await kindsOf(claim).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CodedError);
    expect(error).toMatchObject({ code: 'too_large', hint: expect.stringContaining('smaller record batches') });
  });

  test('big-endian values are refused', async () => {
    const messages = arrowMessages(pieces(schemaMessage([], 1)));
    const first = await messages.next();
    if (first.done === true) throw new Error('no schema');
    const { header } = first.value;
    expect(() => readSchema(header)).toThrow(/big-endian/);
  });
});

test('what is left unread is let go', async () => {
  let released = false;
  async function* input(): AsyncGenerator<Uint8Array> {
    try {
      yield* pieces(stream);
    } finally {
      released = true;
    }
  }
  for await (const _ of arrowMessages(input())) break;
  expect(released).toBe(true);
});

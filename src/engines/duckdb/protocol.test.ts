import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Message, MessageParser, messageHeader, messageKind } from './protocol.ts';

test('messages survive any cut of the byte stream', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 64 }), { minLength: 1, maxLength: 20 }),
      (payloads, cuts) => {
        const stream = Buffer.concat(
          payloads.flatMap((payload, n) => [messageHeader(messageKind.rows, n, payload.length), Buffer.from(payload)]),
        );
        const parser = new MessageParser();
        const messages: Message[] = [];
        for (let at = 0, n = 0; at < stream.length; n++) {
          const length = cuts[n % cuts.length] as number;
          messages.push(...parser.push(stream.subarray(at, at + length)));
          at += length;
        }
        expect(messages.map(({ turn, payload }) => [turn, new Uint8Array(payload)])).toEqual(
          payloads.map((payload, n) => [n, payload]),
        );
      },
    ),
  );
});

test('a payload starts its own memory, so that typed arrays can view it', () => {
  const parser = new MessageParser();
  const bytes = Buffer.concat([messageHeader(messageKind.rows, 1, 8), Buffer.alloc(8, 7)]);
  const [message] = [...parser.push(bytes)];
  expect(message?.payload.byteOffset).toBe(0);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MessageParser, messageHeader, messageKind, type WorkerMessage } from './protocol.ts';

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
        const messages: WorkerMessage[] = [];
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

test('what is passed on comes in the pieces of the stream, between messages that come whole', () => {
  const kinds = [messageKind.job, messageKind.input, messageKind.input, messageKind.inputEnd, messageKind.job] as const;
  const payloads = ['a job', 'long input', '', '', 'another job'];
  const stream = Buffer.concat(
    kinds.flatMap((kind, n) => [messageHeader(kind, n, payloads[n]?.length ?? 0), Buffer.from(payloads[n] ?? '')]),
  );
  for (let size = 1; size <= stream.length; size++) {
    const parser = new MessageParser(messageKind.input);
    const whole: [number, string][] = [];
    let passed = '';
    for (let at = 0; at < stream.length; at += size) {
      const piece = stream.subarray(at, at + size);
      for (const { kind, turn, payload } of parser.push(piece)) {
        if (kind !== messageKind.input) whole.push([turn, payload.toString()]);
        else {
          expect(payload.buffer).toBe(stream.buffer);
          passed += payload.toString();
        }
      }
    }
    expect(whole).toEqual([
      [0, 'a job'],
      [3, ''],
      [4, 'another job'],
    ]);
    expect(passed).toBe('long input');
  }
});

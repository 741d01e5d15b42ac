import { expect, test } from 'vitest';
import { systemCallsIn } from '../harness/system-calls.ts';
import { repliesIn } from './replies.ts';

const accepted = '71 accept4(19<socket:[11]>, NULL, NULL, SOCK_CLOEXEC) = 21<socket:[12]>';

test('a connection that has the number of an earlier one is another connection', () => {
  const written = '71 write(21<socket:[12]>, "HTTP/1.1 200 OK", 15) = 15';

  expect(repliesIn(systemCallsIn([accepted, written, accepted, written].join('\n')))).toMatchObject([
    { acceptedAt: 0, repliedAt: 1 },
    { acceptedAt: 2, repliedAt: 3 },
  ]);
});

test('settings of HTTP/2 are no reply, a message is one', () => {
  const settings = String.raw`71 write(21<socket:[12]>, "\x00\x00\x00\x04\x00\x00\x00\x00\x00", 9) = 9`;
  const message = String.raw`71 write(21<socket:[12]>, "\x00\x00\x01\x00\x00\x00\x00\x00\x01\x00", 10) = 10`;

  expect(repliesIn(systemCallsIn([accepted, settings, message].join('\n')))).toMatchObject([
    { acceptedAt: 0, repliedAt: 2 },
  ]);
});

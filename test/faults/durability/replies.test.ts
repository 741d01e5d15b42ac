import { expect, test } from 'vitest';
import { systemCallsIn } from '../harness/system-calls.ts';
import { repliesIn } from './replies.ts';

test('a connection that has the ports of an earlier one is another connection', () => {
  const socket = '<TCP:[127.0.0.1:9000->127.0.0.1:40002]>';
  const trace = [
    `71 accept4(19<TCP:[127.0.0.1:9000]>, NULL, NULL, SOCK_CLOEXEC) = 21${socket}`,
    `71 write(21${socket}, "HTTP/1.1 200 OK", 15) = 15`,
    `71 accept4(19<TCP:[127.0.0.1:9000]>, NULL, NULL, SOCK_CLOEXEC) = 21${socket}`,
    `71 write(21${socket}, "HTTP/1.1 200 OK", 15) = 15`,
  ].join('\n');

  const replies = repliesIn(systemCallsIn(trace), 8815);

  expect(replies.map(({ acceptedAt, repliedAt }) => [acceptedAt, repliedAt])).toEqual([
    [0, 1],
    [2, 3],
  ]);
});

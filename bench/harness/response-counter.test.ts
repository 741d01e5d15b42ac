import { describe, expect, test } from 'vitest';
import { ResponseCounter } from './response-counter.ts';

const fixed = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';
const empty = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';
const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab\r\nc\r\n0a\r\n0123456789\r\n0\r\n\r\n';
const withTrailer = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nX-A: b\r\n\r\n';

describe('ResponseCounter', () => {
  const all = Buffer.from(fixed + chunked + empty + withTrailer + fixed);

  test.each([1, 2, 3, 7, 16, 64, 1000])('counts answers that arrive in pieces of %d bytes', (size) => {
    const counter = new ResponseCounter();
    let ended = 0;
    for (let at = 0; at < all.length; at += size) ended += counter.take(all.subarray(at, at + size));
    expect(ended).toBe(5);
    expect(counter.isBetween).toBe(true);
  });

  test('is not between answers while one is incomplete', () => {
    const counter = new ResponseCounter();
    expect(counter.take(Buffer.from(chunked.slice(0, -2)))).toBe(0);
    expect(counter.isBetween).toBe(false);
  });

  test('refuses an answer that is not 200', () => {
    const counter = new ResponseCounter();
    const answer = Buffer.from('HTTP/1.1 503 Busy\r\ncontent-length: 4\r\n\r\nbusy');
    expect(() => counter.take(answer)).toThrow('answered HTTP/1.1 503 Busy: busy');
  });
});

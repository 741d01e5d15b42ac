import { expect, it } from 'vitest';
import { ServerEventParser } from './server-events.ts';

it('events are found in pieces of any length', () => {
  const stream =
    'event: progress\ndata: {}\n\nevent: put\r\ndata: {"a":\r\ndata: 1}\r\n\r\n: nothing\n\ndata:x\n\nevent: cut';
  for (const length of [1, 2, 3, 7, 1000]) {
    const parser = new ServerEventParser();
    const events = [];
    for (let at = 0; at < stream.length; at += length) events.push(...parser.push(stream.slice(at, at + length)));
    expect(events).toEqual([
      { event: 'progress', data: '{}' },
      { event: 'put', data: '{"a":\n1}' },
      { event: 'message', data: 'x' },
    ]);
  }
});

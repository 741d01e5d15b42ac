import type { Socket } from 'node:net';
import { BegunTwice } from './begun-twice.ts';

/**
 * Makes undici take the end of a connection for what it is:
 *
 * - An end while its parser is paused by a slow reader trips an assertion in an event handler, which ends the process. So
 *   the end is held back until undici reads and finds nothing, which it does only when it is not paused.
 * - A reset counts for undici as the proper end of an answer that has no length, or after which the connection was to be
 *   closed. Under another code it is the failure that it is.
 * - A reset that comes right behind data is an end for Node. The peer of a connection that was reset is gone at once, that
 *   of one that was ended is not.
 *
 * And it shows undici an answer that QuestDB began twice as one.
 */
export function guardSocket(socket: Socket): void {
  const read = socket.read.bind(socket);
  const push = socket.push.bind(socket);
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
  const answer = new BegunTwice();
  let isAwaited = false;
  let isHeldBack = false;

  socket.read = (size?: number) => {
    const chunk: unknown = read(size);
    // read(0) is Node's own.
    if (size !== 0) isAwaited = chunk === null;
    if (isAwaited && isHeldBack) {
      isHeldBack = false;
      process.nextTick(push, null);
    }
    return chunk;
  };
  socket.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (chunk !== null) {
      const bytes = answer.arrived(chunk as Buffer);
      return bytes === undefined || push(bytes, encoding);
    }
    const held = answer.ended();
    if (held !== undefined) {
      isAwaited = false;
      push(held);
    }
    if (socket.remoteAddress === undefined) socket.destroy(wasReset());
    else if (isAwaited) push(null);
    else isHeldBack = true;
    return false;
  };
  // Requests are not pipelined: after one is written, the next bytes are its answer.
  socket.write = (...args: unknown[]) => {
    answer.expectHead();
    return write(...args);
  };
  socket.prependListener('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ECONNRESET') error.code = 'ECONNABORTED';
  });
}

function wasReset(): Error {
  return Object.assign(new Error('the connection was reset'), { code: 'ECONNABORTED' });
}

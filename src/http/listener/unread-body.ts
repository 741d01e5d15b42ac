import type { IncomingMessage, ServerResponse } from 'node:http';

/** Most time, and bytes, for the rest of a body that no route reads, or that goes on behind its answer. */
const unreadBodyMs = 5000;
const unreadBodyBytes = 256 * 1024 * 1024;
const looksMs = 100;

/** Gives the rest of an unread body 5 s to arrive: from the end of the response, or from now if no route reads it. */
export function cutUnreadBody(
  request: IncomingMessage,
  response: ServerResponse,
  { isRead }: { readonly isRead: boolean },
): void {
  if (!hasBody(request)) return;
  closeBehindBody(request);
  const start = (): void => {
    if (request.complete) return;
    const { socket } = request;
    const [fromMs, fromBytes] = [performance.now(), socket.bytesRead];
    const timer = setInterval(() => {
      const isOver = performance.now() - fromMs >= unreadBodyMs || socket.bytesRead - fromBytes > unreadBodyBytes;
      if (isOver && !request.complete) socket.destroy();
    }, looksMs);
    timer.unref();
    request.once('close', () => clearInterval(timer));
  };
  if (isRead) response.once('finish', start);
  else start();
}

/**
 * Node closes a connection right behind its last answer. With unread bytes of a body, the kernel then resets it, and the reset takes
 * the answer from a client that still sends. So our half is closed first, and the other one when the body has come.
 */
function closeBehindBody(request: IncomingMessage): void {
  const { socket } = request;
  const close = Object.getPrototypeOf(socket).destroySoon as () => void;
  socket.destroySoon = () => {
    if (request.complete) {
      close.call(socket);
      return;
    }
    socket.end();
    request.once('end', () => socket.destroy()).resume();
  };
}

/** Resolves when all of an unread body has come, or its connection is gone. */
export async function dropBody(request: IncomingMessage): Promise<void> {
  if (!hasBody(request) || request.complete) return;
  await new Promise<void>((resolve) => {
    request.once('end', resolve).once('close', resolve).resume();
  });
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

import type { IncomingMessage, ServerResponse } from 'node:http';

/** How long a body that nobody reads, or that goes on behind its answer, may take to end. */
const unreadBodyMs = 5000;

/** Gives the rest of an unread body 5 s to arrive: from the end of the response, or from now if no route reads it. */
export function cutUnreadBody(
  request: IncomingMessage,
  response: ServerResponse,
  { isRead }: { readonly isRead: boolean },
): void {
  if (!hasBody(request)) return;
  const start = (): void => {
    if (request.complete) return;
    const timer = setTimeout(() => {
      if (!request.complete) request.socket.destroy();
    }, unreadBodyMs);
    timer.unref();
    request.once('close', () => clearTimeout(timer));
  };
  if (isRead) response.once('finish', start);
  else start();
}

/** Resolves when all of a body that nobody reads has come, or its connection is gone. */
export async function dropBody(request: IncomingMessage): Promise<void> {
  if (!hasBody(request) || request.complete) return;
  await new Promise<void>((resolve) => {
    request.once('end', resolve).once('close', resolve).resume();
  });
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

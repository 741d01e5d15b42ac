import { connect } from 'node:net';
import { parseAnswers } from './parsed-answers.ts';

export interface Heard {
  readonly bytes: Buffer;
  /** Who ended it: the server by itself, or after the client had said its last. */
  readonly isCutByServer: boolean;
  readonly ms: number;
}

export interface SayOptions {
  /** As many answers are waited for before the client ends its side. */
  readonly answers: number;
  readonly methods: readonly (string | undefined)[];
  /** Within this the server has to close the connection. */
  readonly deadlineMs: number;
}

/** Says some bytes, hears the answers, ends, and waits until the server has ended, too. Rejects where it does not. */
export function say(url: string, bytes: Buffer, { answers, methods, deadlineMs }: SayOptions): Promise<Heard> {
  const { hostname, port } = new URL(url);
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let isEnded = false;
    const end = (): void => {
      if (isEnded) return;
      isEnded = true;
      socket.end();
    };
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    const deadline = setTimeout(() => {
      socket.destroy();
      const heard = Buffer.concat(pieces).toString('latin1').slice(0, 300);
      reject(
        new Error(`the server did not close the connection within ${deadlineMs} ms; it said ${JSON.stringify(heard)}`),
      );
    }, deadlineMs);
    socket.on('connect', () => {
      socket.write(bytes);
      if (answers === 0) end();
    });
    socket.on('data', (piece: Buffer) => {
      pieces.push(piece);
      if (!isEnded && wholeAnswers(pieces, methods) >= answers) end();
    });
    // Where the server refuses the rest, the kernel resets what is still on its way.
    socket.on('error', () => {});
    socket.on('end', () => socket.end());
    socket.on('close', () => {
      clearTimeout(deadline);
      resolve({ bytes: Buffer.concat(pieces), isCutByServer: !isEnded, ms: performance.now() - startedAt });
    });
  });
}

function wholeAnswers(pieces: readonly Buffer[], methods: readonly (string | undefined)[]): number {
  try {
    return parseAnswers(Buffer.concat(pieces), methods).filter(({ isWhole }) => isWhole).length;
  } catch {
    // Not all of it is there yet, or it is wrong, which is found out at the end.
    return 0;
  }
}

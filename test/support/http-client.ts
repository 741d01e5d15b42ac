import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';
import { request as requestTls } from 'node:https';
import { connect } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { secretsIn } from './secrets.ts';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly text: string;
  json(): Record<string, unknown>;
}

export interface AskOptions {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
  /** Any of 127.0.0.0/8, so that the server takes it for another client. */
  readonly localAddress?: string;
  /** Of https: the authority to trust, the certificate to show. */
  readonly tls?: Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'session' | 'minVersion' | 'maxVersion'>;
}

/** One request as it is written, nothing added, decoded or followed. Rejects when the answer breaks off. */
export function ask(url: string, { body, tls, ...options }: AskOptions = {}): Promise<Answer> {
  const open = url.startsWith('https:') ? requestTls : request;
  return new Promise((resolve, reject) => {
    const outgoing = open(url, { agent: false, ...options, ...tls }, (incoming) => {
      const pieces: Buffer[] = [];
      incoming.on('data', (piece: Buffer) => pieces.push(piece));
      incoming.on('error', reject);
      incoming.on('end', () => {
        const body = Buffer.concat(pieces);
        const text = body.toString();
        const { statusCode: status = 0, headers } = incoming;
        if (status >= 400 && secretsIn(text).length > 0) reject(new Error('an error shows a secret'));
        resolve({ status, headers, body, text, json: () => JSON.parse(text) as Record<string, unknown> });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** Sends raw bytes and gives all that comes back until the server closes. */
export function sendRaw(url: string, bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.setEncoding('utf8');
    socket.on('data', (piece: string) => {
      text += piece;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
  });
}

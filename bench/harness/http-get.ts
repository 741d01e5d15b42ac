import { type IncomingMessage, request } from 'node:http';
import { request as requestTls } from 'node:https';
import type { ClientOptions, HttpServer } from './server-process.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: Buffer;
}

/** One request on a connection of its own, as the load generator sends it: without `Accept-Encoding`. */
export function httpGet(url: string, { credentials = [], ca }: ClientOptions = {}): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const [authorization] = credentials;
    const options = { agent: false, headers: authorization === undefined ? {} : { authorization } };
    const take = (response: IncomingMessage): void => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.once('error', reject);
      response.once('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(pieces) });
      });
    };
    const sent = ca === undefined ? request(url, options, take) : requestTls(url, { ...options, ca }, take);
    sent.once('error', reject);
    sent.end();
  });
}

/** The body of a 200; anything else rejects. */
export async function httpGetBody(url: string, client?: ClientOptions): Promise<Buffer> {
  const { status, body } = await httpGet(url, client);
  if (status !== 200) throw new Error(`${url} answered ${status}: ${body.toString('utf8', 0, 300)}`);
  return body;
}

/** With the protocol that it speaks. */
export function urlOf({ host, port, ca }: HttpServer, path: string): string {
  return `${ca === undefined ? 'http' : 'https'}://${host}:${port}${path}`;
}

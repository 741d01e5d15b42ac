import { request } from 'node:http';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: Buffer;
}

/** One request on a connection of its own, as the load generator sends it: without `Accept-Encoding`. */
export function httpGet(url: string): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent: false }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.once('error', reject);
      response.once('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(pieces) });
      });
    });
    sent.once('error', reject);
    sent.end();
  });
}

/** The body of a 200; anything else rejects. */
export async function httpGetBody(url: string): Promise<Buffer> {
  const { status, body } = await httpGet(url);
  if (status !== 200) throw new Error(`${url} answered ${status}: ${body.toString('utf8', 0, 300)}`);
  return body;
}

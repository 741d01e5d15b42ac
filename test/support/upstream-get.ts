import { get, type IncomingMessage } from 'node:http';

export interface RawAnswer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  /** As it came: neither decoded nor decompressed. */
  readonly body: Buffer;
}

export interface RawGetOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** A GET on a connection of its own, resolved when the headers are there. */
export function openGet(url: string, { headers = {}, signal }: RawGetOptions = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options = { agent: false as const, headers, ...(signal === undefined ? {} : { signal }) };
    get(url, options, resolve).on('error', reject);
  });
}

/** The whole answer. Rejects if the connection is cut before its end. */
export async function rawGet(url: string, options?: RawGetOptions): Promise<RawAnswer> {
  const response = await openGet(url, options);
  return { status: response.statusCode, headers: response.headers, body: await readToEnd(response) };
}

export async function readToEnd(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** `<base>/exec?query=…&fmt=json&…` */
export function execUrl(base: string, query: string, parameters: Readonly<Record<string, string>> = {}): string {
  return `${base}/exec?${new URLSearchParams({ query, fmt: 'json', ...parameters })}`;
}

export function jsonOf({ body }: RawAnswer): unknown {
  return JSON.parse(String(body));
}

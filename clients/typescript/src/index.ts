import { inOurWords } from './advice.ts';
import { Connection } from './connection.ts';
import { FetchTransport } from './fetch-transport.ts';
import { Http, type HttpOptions } from './http.ts';

export * from './public.ts';

/**
 * A connection to the server at `http(s)://host:port`; in a page that a server has served itself, to that one. Nothing is sent before
 * the first operation.
 */
export function connect(url?: string, options: HttpOptions = {}): Connection {
  const server = url ?? (globalThis as { readonly location?: { readonly origin: string } }).location?.origin;
  if (server === undefined || !/^https?:\/\//i.test(server) || !URL.canParse(server)) {
    throw new TypeError(`the server is ${JSON.stringify(server)}; expected an address such as http://127.0.0.1:9000`);
  }
  const hints = { address: 'check the address', advice: inOurWords };
  return new Connection(new Http(new FetchTransport(server), options, hints));
}

import { startUpstream, type Upstream } from '../../support/upstream.ts';
import type { RequestHead } from '../../support/upstream-head.ts';
import { promised } from '../harness/scenario.ts';

const body = '{"query":"select 1","columns":[{"name":"1","type":"INT"}],"dataset":[[1]],"count":1}';
const head = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close`;

/** An external database that is up, answers everything at once, and keeps no connection open. */
export function startGoodUpstream(): Promise<Upstream> {
  return startUpstream(async ({ write, end }) => {
    await write(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n${body}`);
    end();
  });
}

const forwardable = new Set(['host', 'accept', 'accept-encoding', 'connection', 'user-agent', 'statement-timeout']);

/** Whatever was sent to us, the database saw well-formed requests of our own making. */
export function checkForwarded(requests: readonly RequestHead[]): void {
  for (const { text, headers } of requests) {
    promised(/^GET \/(?:exec|exp)\?[!-~]* HTTP\/1\.1\r\n/.test(text), 'we forward requests of our own making', text);
    const foreign = [...headers.keys()].filter((name) => !forwardable.has(name));
    promised(foreign.length === 0, 'we forward no header of the client', foreign);
  }
}

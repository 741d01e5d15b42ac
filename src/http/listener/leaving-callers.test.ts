import { connect } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { principalOf } from '../../../test/support/principals.ts';
import { FairShares } from '../../core/async/fair-shares.ts';
import type { Audit } from '../../core/callers/audit.ts';
import type { Principal } from '../../core/callers/principal.ts';
import { silentLogger } from '../../core/logs/logger.ts';
import { RequestNotes } from '../../core/logs/request-notes.ts';
import type { Route } from '../exchange/route.ts';
import { type HttpListener, startHttpListener } from './listener.ts';

const maxConcurrentRequests = 10;

let served = 0;
const route: Route = {
  path: '/frames',
  methods: ['GET'],
  operations: { GET: { access: 'readFrames', summary: '', parameters: {}, responses: {}, errors: [] } },
  handle(exchange) {
    served += 1;
    exchange.send(204);
  },
};

let ended = 0;
/** Hears when the server knows that a request has ended. */
const audit: Audit = {
  begin: () => ({
    notes: new RequestNotes(),
    identified: (principal) => principal,
    acknowledge: () => undefined,
    end: () => {
      ended += 1;
    },
  }),
};

let listener: HttpListener | undefined;

afterEach(() => listener?.close(0));

it('a client that leaves before it is identified does not count among the requests of its tenant', async () => {
  const waiting: ((principal: Principal) => void)[] = [];
  let isSlow = true;
  listener = await startHttpListener({
    memory: new FairShares({ units: 1e9, what: 'bytes' }),
    host: '127.0.0.1',
    port: 0,
    routes: [route],
    identify: () => (isSlow ? new Promise<Principal>((resolve) => waiting.push(resolve)) : principalOf('acme')),
    isClosed: true,
    audit,
    cors: undefined,
    hosts: undefined,
    requests: new FairShares({ units: maxConcurrentRequests, what: 'places' }),
    maxConnections: 100,
    maxBodyBytes: 1000,
    headerTimeoutMs: 5000,
    stallTimeoutMs: 5000,
    idleTimeoutMs: 5000,
    logger: silentLogger,
  });
  const { port } = listener.address;
  const ask = 'GET /frames HTTP/1.1\r\nHost: localhost\r\n\r\n';
  for (let n = 0; n < maxConcurrentRequests; n++) {
    const socket = connect(port, '127.0.0.1');
    // A second one waits behind the first: Node does not notify its answer that the client is gone.
    socket.write(`${ask}${ask}`);
    await expect.poll(() => waiting.length).toBe(2);
    socket.destroy();
    await expect.poll(() => ended).toBe(2);
    for (const identified of waiting.splice(0)) identified(principalOf('acme'));
    ended = 0;
  }
  isSlow = false;
  const response = await fetch(`http://127.0.0.1:${port}/frames`);
  expect([response.status, served]).toEqual([204, 1]);
});

import type { Cleanup } from '../../src/core/async/cleanup.ts';
import { authEnabled, makeTlsPair, makeTokens, startIssuer } from '../harness/access.ts';
import type { BenchCase } from '../harness/bench-case.ts';
import { tracedSettings } from '../harness/collector.ts';
import { getExecTable, sizeOf } from '../harness/exec-table.ts';
import { httpGet, httpGetBody, urlOf } from '../harness/http-get.ts';
import type { Lab } from '../harness/lab.ts';
import type { HttpServer } from '../harness/server-process.ts';
import { startBareNode } from '../rivals/bare-node.ts';
import { handlePath } from '../rivals/framehold.ts';
import { assertRepeats, hotReader } from './hot-reads.ts';

const rows = 1000;
const path = handlePath('trades', String(rows));

/** The cost of credentials, TLS and traces for a page in memory. */
export const hotPageAccessCases: readonly BenchCase[] = [
  hotPage({
    name: 'hot-page-token',
    title: 'the hot page with auth.enabled and a Bearer token, and without both',
    against: 'framehold, open',
    atLeast: 0.95,

    async start(lab, cleanup) {
      const credentials = await makeTokens(await lab.demoFolder());
      return {
        'framehold, token': cleanup.use(await lab.startDemo(authEnabled, { credentials })),
        'framehold, open': cleanup.use(await lab.startDemo()),
      };
    },
  }),
  hotPage({
    name: 'hot-page-jwt',
    title: 'the hot page with a JWT that the server has verified before, and with a token',
    against: 'framehold, token',
    atLeast: 0.9,

    async start(lab, cleanup) {
      const issuer = await startIssuer(cleanup);
      const tokens = await makeTokens(await lab.demoFolder());
      const server = cleanup.use(await lab.startDemo(issuer.settings));
      return {
        'framehold, jwt': { ...server, credentials: await issuer.makeJwts() },
        'framehold, token': { ...server, credentials: tokens },
      };
    },
  }),
  hotPage({
    name: 'hot-page-tls',
    title: 'the hot page over TLS',
    against: 'bare-node',
    atLeast: 0.8,

    async start(lab, cleanup) {
      const tls = await makeTlsPair(lab.folder);
      const framehold = cleanup.use(await lab.startDemo(tls.settings, { ca: tls.ca }));
      const answer = await httpGet(urlOf(framehold, path), framehold);
      const bareNode = cleanup.use(await startBareNode(answer, lab.folder, { tls }));
      await assertRepeats(bareNode, path, answer);
      return { framehold, 'bare-node': bareNode };
    },
  }),
  hotPage({
    name: 'hot-page-traced',
    title: 'the hot page with a tenth of the requests traced, and with none',
    against: 'framehold, untraced',
    atLeast: 0.97,

    async start(lab, cleanup) {
      return {
        'framehold, traced': cleanup.use(await lab.startDemo(await tracedSettings(lab, cleanup))),
        'framehold, untraced': cleanup.use(await lab.startDemo()),
      };
    },
  }),
];

interface HotPageOptions {
  readonly name: string;
  readonly title: string;
  readonly against: string;
  readonly atLeast: number;
  /** By the names of the contenders. */
  readonly start: (lab: Lab, cleanup: Cleanup) => Promise<Readonly<Record<string, HttpServer>>>;
}

function hotPage({ name, title, against, atLeast, start }: HotPageOptions): BenchCase {
  return {
    name,
    title,
    unit: 'requests/s',
    better: 'higher',
    rounds: 5,
    bars: [{ kind: 'ratio', against, atLeast }],

    async prepare(lab, cleanup) {
      const servers = Object.entries(await start(lab, cleanup));
      return {
        contenders: servers.map(([who, server]) => hotReader(lab, who, server, path)),
        verify: () => verify(servers),
      };
    },
  };
}

/** All send the same bytes, and no caller gets them without the measured credentials. */
async function verify(servers: readonly (readonly [string, HttpServer])[]): Promise<string> {
  const bodies = new Set<string>();
  let size = '';
  for (const [who, server] of servers) {
    const url = urlOf(server, path);
    bodies.add((await httpGetBody(url, server)).toString('latin1'));
    const table = await getExecTable(url, server);
    if (table.dataset.length !== rows) throw new Error(`${who} answered ${table.dataset.length} rows, not ${rows}`);
    size = sizeOf(table);
    const { status } = await httpGet(url, { ca: server.ca });
    const expected = server.credentials === undefined ? 200 : 401;
    if (status !== expected) throw new Error(`${who} answered ${status} without credentials, not ${expected}`);
  }
  const [body = '', ...others] = bodies;
  if (others.length > 0) throw new Error(`${servers.map(([who]) => who).join(' and ')} send different bytes`);
  return `${size}, ${body.length.toLocaleString('en-US')} bytes`;
}

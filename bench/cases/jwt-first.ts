import { makeTokens, startIssuer } from '../harness/access.ts';
import type { BenchCase, Contender } from '../harness/bench-case.ts';
import { loadContender } from '../harness/contenders.ts';
import { httpGetBody, urlOf } from '../harness/http-get.ts';
import { runLoad } from '../harness/load.ts';
import { handlePath } from '../rivals/framehold.ts';

const rounds = 5;
/** All rounds together need fewer tokens than a tenant may have. */
const requestsARound = 125;
/** Not timed: they make the code of verifying warm. */
const warmUps = 50;
const path = handlePath('trades', '1000');

/** Every request shows a credential that the server has not seen. */
export const jwtFirst: BenchCase = {
  name: 'jwt-first',
  title: 'the hot page with a JWT, and with a token, that the server sees for the first time, p50 of one connection',
  unit: 'ms',
  better: 'lower',
  rounds,
  bars: [{ kind: 'margin', of: 'framehold, jwt', over: 'framehold, token', atMost: 1 }],

  async prepare(lab, cleanup) {
    const issuer = await startIssuer(cleanup);
    const count = 1 + (warmUps + requestsARound) * (lab.quick ? 1 : rounds);
    const jwts = await issuer.makeJwts(count);
    const tokens = await makeTokens(await lab.demoFolder(), { count });
    const server = cleanup.use(await lab.startDemo(issuer.settings));

    const contender = (name: string, [, ...unseen]: readonly string[]): Contender => {
      const take = (many: number) => ({ ...server, credentials: unseen.splice(0, many) });
      return loadContender({
        name,
        server: () => take(requestsARound),
        connections: 1,
        paths: () => [path],
        until: { requests: requestsARound },
        value: ({ p50Ms }) => p50Ms,
        beforeRound: async () => {
          const { host, port, credentials } = take(warmUps);
          await runLoad({ host, port, credentials, connections: 1, paths: [path], until: { requests: warmUps } });
        },
      });
    };
    return {
      contenders: [contender('framehold, jwt', jwts), contender('framehold, token', tokens)],
      async verify() {
        const withJwt = await httpGetBody(urlOf(server, path), { credentials: jwts });
        const withToken = await httpGetBody(urlOf(server, path), { credentials: tokens });
        if (!withJwt.equals(withToken)) throw new Error('the JWT gets other bytes than the token');
        return `${withJwt.length.toLocaleString('en-US')} bytes`;
      },
    };
  },
};

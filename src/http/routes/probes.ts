import { choice, readParameters } from '../exchange/parameters.ts';
import { parseQueryString } from '../exchange/query-string.ts';
import type { Route } from '../exchange/route.ts';
import { sendText } from '../json/send-json.ts';

const plainText = (text: string) => ({ 'text/plain': { type: 'string', const: text } }) as const;

/** Whether the process answers, whatever the state of its parts: for supervisors that restart it otherwise. */
export const livezRoute: Route = {
  path: '/livez',
  methods: ['GET', 'HEAD'],
  always: true,
  operations: {
    GET: {
      access: 'open',
      summary: 'Whether the process lives',
      description: 'For liveness probes: what the server stands on is not looked at.',
      parameters: {},
      responses: { 200: { description: 'It does.', content: plainText('ok') } },
      errors: [],
    },
  },
  handle: (exchange) => sendText(exchange, 'ok'),
};

const readyzParameters = {
  for: choice(['reads', 'writes'], '`writes`: also 503 while frames can be read and not written. Default `reads`.'),
};

/** Why not, undefined where requests should be sent. */
interface Problems {
  readonly problem: string | undefined;
  readonly problemOfWrites: string | undefined;
}

/** Whether requests should be sent here. `tellsWhy`: to operators. */
export function readyzRoute(problems: Problems, { tellsWhy }: { readonly tellsWhy: boolean }): Route {
  return {
    path: '/readyz',
    methods: ['GET', 'HEAD'],
    always: true,
    operations: {
      GET: {
        access: 'known',
        summary: 'Whether requests should be sent here',
        description:
          'For readiness probes and load balancers. `starting`, `stopping`, `storage_failed` (a write failed, and nothing more is written until a restart) and `lease_lost` (the other servers took this one for dead) are told to operators, others read `unavailable`. With `for=writes` also `storage_read_only`, `storage_full` and `storage_silent` (it does not answer), each from at most five seconds after its beginning until at most five seconds after its end.',
        parameters: readyzParameters,
        responses: {
          200: { description: 'They should.', content: plainText('ok') },
          503: { description: 'They should not, for now.', content: { 'text/plain': { type: 'string' } } },
        },
        errors: ['invalid_parameter'],
      },
    },
    handle(exchange) {
      const given = readParameters(readyzParameters, parseQueryString(exchange.target));
      const reason = given.for === 'writes' ? problems.problemOfWrites : problems.problem;
      if (reason === undefined) return sendText(exchange, 'ok');
      const isTold = tellsWhy && exchange.isKnown && exchange.principal.role === 'operator';
      exchange.headers.push('retry-after', '1');
      sendText(exchange, isTold ? reason : 'unavailable', { status: 503 });
    },
  };
}

import type { Route } from '../exchange/route.ts';
import { sendText } from '../json/send-json.ts';

const plainText = (text: string) => ({ 'text/plain': { type: 'string', const: text } }) as const;

/** Whether the process answers, whatever it stands on: for those who restart it otherwise. */
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

/** Whether requests should be sent here. `problem`: why not, undefined where they should. `tellsWhy`: to operators. */
export function readyzRoute(problem: () => string | undefined, { tellsWhy }: { readonly tellsWhy: boolean }): Route {
  return {
    path: '/readyz',
    methods: ['GET', 'HEAD'],
    always: true,
    operations: {
      GET: {
        access: 'known',
        summary: 'Whether requests should be sent here',
        description:
          'For readiness probes and load balancers. `starting`, `stopping`, `storage_read_only` (a write failed, and nothing more is written until a restart) and `lease_lost` (the other servers took this one for dead) are told to operators, others read `unavailable`.',
        parameters: {},
        responses: {
          200: { description: 'They should.', content: plainText('ok') },
          503: { description: 'They should not, for now.', content: { 'text/plain': { type: 'string' } } },
        },
        errors: [],
      },
    },
    handle(exchange) {
      const reason = problem();
      if (reason === undefined) return sendText(exchange, 'ok');
      const isTold = tellsWhy && exchange.isKnown && exchange.principal.role === 'operator';
      exchange.headers.push('retry-after', '1');
      sendText(exchange, isTold ? reason : 'unavailable', { status: 503 });
    },
  };
}

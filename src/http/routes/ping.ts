import type { Route } from '../exchange/route.ts';

const pong = ['content-type', 'text/plain; charset=utf-8', 'content-length', '2'];

export const pingRoute: Route = {
  path: '/ping',
  methods: ['GET', 'HEAD'],
  always: true,
  operations: {
    GET: {
      access: 'open',
      summary: 'Whether the server answers',
      parameters: {},
      responses: { 200: { description: 'It does.', content: { 'text/plain': { type: 'string', const: 'ok' } } } },
      errors: [],
    },
  },
  handle(exchange) {
    exchange.headers.push(...pong);
    exchange.send(200, 'ok');
  },
};

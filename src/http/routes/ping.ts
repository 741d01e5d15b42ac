import type { Route } from '../route.ts';

const pong = ['content-type', 'text/plain; charset=utf-8', 'content-length', '2'];

export const pingRoute: Route = {
  path: '/ping',
  methods: ['GET', 'HEAD'],
  always: true,
  handle({ request, response, headers }) {
    response.writeHead(200, [...headers, ...pong]);
    response.end(request.method === 'HEAD' ? undefined : 'ok');
  },
};

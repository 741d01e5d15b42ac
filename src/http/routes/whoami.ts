import { readParameters } from '../exchange/parameters.ts';
import { parseQueryString } from '../exchange/query-string.ts';
import type { Route } from '../exchange/route.ts';
import { sendJson } from '../json/send-json.ts';
import { isoTime } from './handles/summary.ts';

/** Tells a caller who it is taken for. */
export const whoamiRoute: Route = {
  path: '/whoami',
  methods: ['GET', 'HEAD'],
  operations: {
    GET: {
      access: 'readFrames',
      summary: 'Who the caller is',
      parameters: {},
      responses: {
        200: {
          description: 'The tenant and the role that the credential gives.',
          content: {
            'application/json': {
              type: 'object',
              properties: {
                tenant: { type: 'string' },
                name: { type: 'string', description: 'Of the token.' },
                role: { type: 'string', enum: ['read', 'write', 'admin', 'operator'] },
                prefix: { type: ['string', 'null'], description: 'Only handles that begin so can be used.' },
                credential: { type: 'string', enum: ['none', 'anonymous', 'token', 'jwt', 'certificate'] },
                expires: { type: ['string', 'null'], format: 'date-time', description: 'When the credential ends.' },
              },
              required: ['tenant', 'name', 'role', 'prefix', 'credential', 'expires'],
            },
          },
        },
      },
      errors: ['invalid_parameter'],
    },
  },
  handle(exchange) {
    readParameters({}, parseQueryString(exchange.target));
    const { tenant, name, role, prefix = null, credential, expiresAt } = exchange.principal;
    const expires = expiresAt === undefined ? null : isoTime(expiresAt);
    sendJson(exchange, { tenant, name, role, prefix, credential, expires });
  },
};

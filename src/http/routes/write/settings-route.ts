import { readParameters } from '../../exchange/parameters.ts';
import { parseQueryString } from '../../exchange/query-string.ts';
import type { Route } from '../../exchange/route.ts';
import { sendJson } from '../../json/send-json.ts';

/** The settings that QuestDB's clients look up before they write: lines as text alone, over HTTP. */
const clientSettings = {
  config: {
    'line.proto.support.versions': [1],
    'ilp.proto.transports': ['http'],
    'cairo.max.file.name.length': 127,
  },
  'preferences.version': 0,
  preferences: {},
} as const;

export const settingsRoute: Route = {
  path: '/settings',
  methods: ['GET', 'HEAD'],
  operations: {
    GET: {
      access: 'open',
      summary: "What QuestDB's clients need to know before they write lines",
      parameters: {},
      responses: {
        200: {
          description: 'The versions of the line protocol, and the longest name.',
          content: {
            'application/json': {
              type: 'object',
              properties: { config: { type: 'object' } },
              required: ['config'],
            },
          },
        },
      },
      errors: ['invalid_parameter'],
    },
  },
  handle(exchange) {
    readParameters({}, parseQueryString(exchange.target));
    sendJson(exchange, clientSettings);
  },
};

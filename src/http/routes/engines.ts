import type { EngineDirectory, EngineStatus } from '../../query/engine-directory.ts';
import { readParameters } from '../exchange/parameters.ts';
import { parseQueryString } from '../exchange/query-string.ts';
import type { Route } from '../exchange/route.ts';
import { sendJson } from '../json/send-json.ts';

/** The SQL engines and their health. */
export function enginesRoute(engines: EngineDirectory): Route {
  return {
    path: '/engines',
    methods: ['GET', 'HEAD'],
    operations: {
      GET: {
        access: 'seeEngines',
        summary: 'The engines that `engine` may name, and how they are',
        description: 'Each is asked anew, but not more often than once in a second, and has four seconds to answer.',
        parameters: {},
        responses: {
          200: {
            description: 'The engine of this server first.',
            content: {
              'application/json': {
                type: 'object',
                properties: { engines: { type: 'array', items: engineSchema } },
                required: ['engines'],
              },
            },
          },
        },
        errors: ['invalid_parameter'],
      },
    },
    async handle(exchange) {
      readParameters({}, parseQueryString(exchange.target));
      sendJson(exchange, { engines: (await engines.list(exchange.principal)).map(engineDocument) });
    },
  };
}

function engineDocument({ name, kind, isDefault, isForLarge, health }: EngineStatus): object {
  return {
    name,
    kind,
    state: health.state,
    version: health.state === 'up' ? (health.version ?? null) : null,
    ...(health.state === 'down' && { problem: health.problem }),
    ...(health.state === 'up' && health.unstopped && { unstopped: health.unstopped }),
    default: isDefault,
    auto: isForLarge,
  };
}

const engineSchema = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    kind: { type: 'string', description: 'What it is, or speaks: `duckdb`, `questdb`, `spark-connect`.' },
    state: { type: 'string', enum: ['up', 'down'] },
    version: { type: ['string', 'null'], description: 'Where it tells one.' },
    problem: { type: 'string', description: 'Of one that is down.' },
    unstopped: {
      type: 'integer',
      description:
        'Statements that were given up and that the engine has not stopped yet; each takes the place of a new one.',
    },
    default: { type: 'boolean', description: '`query` of /exec goes there without `engine`.' },
    auto: { type: 'boolean', description: '`engine=auto` sends statements there that read much.' },
  },
  required: ['name', 'kind', 'state', 'version', 'default', 'auto'],
} as const;

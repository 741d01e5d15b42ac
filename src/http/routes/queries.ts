import type { RunningQueries, RunningQuery } from '../../query/running-queries.ts';
import { refuseCrossSite } from '../exchange/cross-site-guard.ts';
import { type Parameter, readParameters } from '../exchange/parameters.ts';
import { parseQueryString } from '../exchange/query-string.ts';
import type { Route } from '../exchange/route.ts';
import { sendJson } from '../json/send-json.ts';
import { isoTime } from './handles/summary.ts';

/** Enough to know a statement by. */
const longestSql = 1000;

/** Lists the running statements. */
export function queriesRoute(running: RunningQueries): Route {
  return {
    path: '/queries',
    methods: ['GET', 'HEAD'],
    operations: {
      GET: {
        access: 'runStatements',
        summary: 'The statements over frames that are under way',
        description:
          'Those of this server, over HTTP and Flight SQL, whichever engine runs them, until their last row is sent: the caller’s own, to an admin those of the tenant, to an operator those of all tenants. Not those of `engine=tsdb`, which the external database lists itself.',
        parameters: {},
        responses: {
          200: {
            description: 'The oldest first.',
            content: {
              'application/json': {
                type: 'object',
                properties: { queries: { type: 'array', items: querySchema } },
                required: ['queries'],
              },
            },
          },
        },
        errors: ['invalid_parameter'],
      },
    },
    async handle(exchange) {
      readParameters({}, parseQueryString(exchange.target));
      sendJson(exchange, { queries: running.list(exchange.principal).map(queryDocument) });
    },
  };
}

/** Stops a statement. */
export function queryRoute(running: RunningQueries): Route {
  return {
    path: '/queries/{id}',
    methods: ['DELETE'],
    operations: {
      DELETE: {
        access: 'cancelOwnStatements',
        summary: 'Cancels a statement that is under way',
        description:
          'Whoever waits for it is answered 409 `sql_cancelled`, or is cut off where rows were sent already. What runs of it on a cluster is stopped there. A frame that is made by it is not made; where that is done already, it stays.',
        parameters: {},
        segments: { id: idParameter },
        responses: {
          200: {
            description: 'It was told to stop.',
            content: {
              'application/json': {
                type: 'object',
                properties: { id: { type: 'string' }, cancelled: { type: 'boolean', const: true } },
                required: ['id', 'cancelled'],
              },
            },
          },
        },
        errors: ['invalid_parameter', 'invalid_input', 'not_found'],
      },
    },
    async handle(exchange) {
      refuseCrossSite(exchange);
      readParameters({}, parseQueryString(exchange.target));
      const id = exchange.segments[0] ?? '';
      running.cancel(exchange.principal, id);
      sendJson(exchange, { id, cancelled: true });
    },
  };
}

const idParameter: Parameter<string | undefined> = {
  description: 'As GET /queries tells it. Several requests that were sent with the same X-Request-Id stop together.',
  schema: { type: 'string' },
  parse: (value) => value,
};

function queryDocument({ id, tenant, engine, sql, startedAt, elapsedMs, progress }: RunningQuery): object {
  return {
    id,
    tenant,
    engine,
    sql: sql.length > longestSql ? `${sql.slice(0, longestSql)}…` : sql,
    started: isoTime(startedAt),
    elapsed_ms: Math.round(elapsedMs),
    progress:
      progress === undefined
        ? null
        : {
            tasks: progress.tasks,
            completed_tasks: progress.completedTasks,
            running_tasks: progress.runningTasks,
            bytes_read: progress.bytesRead,
          },
  };
}

const querySchema = {
  type: 'object',
  properties: {
    id: { type: 'string', description: '`X-Request-Id` of the request, over HTTP or gRPC.' },
    tenant: { type: 'string' },
    engine: { type: 'string' },
    sql: { type: 'string', description: `The first ${longestSql} characters of the statement.` },
    started: { type: 'string', format: 'date-time' },
    elapsed_ms: { type: 'integer', description: 'With the time that it waited for its turn.' },
    progress: {
      type: ['object', 'null'],
      description: 'How far it is, where the engine tells: Spark does.',
      properties: {
        tasks: { type: 'integer', description: 'Those that are known so far: more may follow.' },
        completed_tasks: { type: 'integer' },
        running_tasks: { type: 'integer' },
        bytes_read: { type: 'integer' },
      },
      required: ['tasks', 'completed_tasks', 'running_tasks', 'bytes_read'],
    },
  },
  required: ['id', 'tenant', 'engine', 'sql', 'started', 'elapsed_ms', 'progress'],
} as const;

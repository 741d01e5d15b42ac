import { Follower } from '../../../follow/follower.ts';
import type { Followers } from '../../../follow/followers.ts';
import type { Frames } from '../../../frames/frames.ts';
import type { RowFilter } from '../../../query/row-filter.ts';
import { chooseCoding } from '../../exchange/content-coding.ts';
import { sendEvents } from '../../exchange/event-stream.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { Operation } from '../../exchange/operation.ts';
import { frameName } from '../../exchange/parameters.ts';
import type { Route } from '../../exchange/route.ts';
import { sendBody, sendHead } from '../../exchange/send-body.ts';
import { frameErrors, sqlErrors } from '../../openapi/error-groups.ts';
import { chunkFormOf, exportHeaders, tableBody } from '../../table/table-body.ts';
import { parseRows, type RowsCommand, rowsParameters } from './command.ts';
import { openTable, rowEvents } from './row-events.ts';

export interface RowsRouteOptions {
  readonly frames: Pick<Frames, 'describe' | 'read' | 'watch'>;
  readonly followers: Followers;
  readonly filter: RowFilter;
  readonly settings: { readonly maxLimit: number | undefined; readonly compression: boolean };
}

/** The rows of a frame from a number on, and new rows as they come. */
export function rowsRoute({ frames, followers, filter, settings }: RowsRouteOptions): Route {
  return {
    path: '/handles/{handle}/rows',
    methods: ['GET', 'HEAD'],
    follows: true,
    operations: { GET: operation },
    async handle(exchange) {
      const command = parseRows(exchange, settings);
      const { principal, signal, lane } = exchange;
      const request = { ...command, form: chunkFormOf(command.format) };
      const onWaiting = (): void => exchange.uncount();
      using follower = await Follower.open({ frames, followers, filter }, principal, request, {
        signal,
        lane,
        onWaiting,
      });
      if (command.live === 'sse' && exchange.method !== 'HEAD') {
        await follower.begin();
        pushPosition(exchange, follower);
        await sendEvents(exchange, rowEvents(follower, command, followers.progressIntervalMs));
      } else await sendPage(exchange, follower, command, settings);
    },
  };
}

/** The start of the next answer, in the headers of every answer. */
function pushPosition({ headers }: Exchange, { next, isUpToDate, lineage }: Follower): void {
  headers.push('next-row', String(next), 'up-to-date', String(isUpToDate), 'lineage', lineage);
}

async function sendPage(
  exchange: Exchange,
  follower: Follower,
  { handle, live, waitMs, mostRows, format }: RowsCommand,
  { compression }: RowsRouteOptions['settings'],
): Promise<void> {
  const mayWait = live === 'long-poll' && exchange.method !== 'HEAD';
  await using rows = mayWait ? await follower.waitFor(mostRows, waitMs) : await follower.read(mostRows);
  pushPosition(exchange, follower);
  if (rows === undefined && mayWait) {
    exchange.headers.push(...exchange.cacheControl('no-store'));
    return exchange.send(204);
  }
  const mayCode = compression && format.fmt !== 'arrow';
  if (mayCode) exchange.headers.push('vary', 'Accept-Encoding');
  const coding = mayCode ? chooseCoding(exchange.requestHeaders['accept-encoding']) : undefined;
  const description = { headers: exportHeaders(format), coding };
  if (exchange.method === 'HEAD') return sendHead(exchange, description);
  const table = { ...openTable(rows ?? { columns: follower.columns, rows: none }), versionId: follower.lineage };
  await sendBody(exchange, tableBody({ query: `handle:${handle}` }, table, format), description);
}

async function* none(): AsyncGenerator<never, void, undefined> {}

const position = 'With `Next-Row` (where the next answer begins), `Up-To-Date` and `Lineage`.';
const text = { type: 'string' } as const;

const operation: Operation = {
  access: 'readFrames',
  summary: 'Gives the rows of a frame from a number on, and those that come',
  description:
    'A row keeps its number while the frame grows. `Lineage` changes when its rows are replaced: with `lineage` a frame that was replaced or dropped is answered 410, and a follower that is connected is ended likewise. While one is connected, the frame does not expire.',
  parameters: rowsParameters,
  headers: {
    'Last-Event-ID': {
      description: 'Where events go on, as a browser sends it when it comes back: wins over `from`.',
      schema: { type: 'string', examples: ['1200'] },
    },
  },
  segments: { handle: frameName('The handle of the frame.') },
  responses: {
    200: {
      description: `The rows; none where there are none and nothing was to be waited for. ${position}`,
      content: {
        'application/x-ndjson': text,
        'application/json': { type: 'object' },
        'application/vnd.apache.arrow.stream': { type: 'string', format: 'binary' },
        'text/csv': text,
        'text/tab-separated-values': text,
        'text/event-stream': text,
      },
    },
    204: { description: `No row came within \`wait\`. ${position}`, content: {} },
  },
  errors: ['invalid_parameter', 'unsupported_format', 'unsupported_type', 'overloaded', ...frameErrors, ...sqlErrors],
};

import type { ByteCache } from '../../../cache/byte-cache.ts';
import type { Followers } from '../../../follow/followers.ts';
import { handleEvents } from '../../../follow/handle-events.ts';
import type { FrameSummary } from '../../../frames/catalog/frame-summary.ts';
import type { Frames } from '../../../frames/frames.ts';
import { eventBytes, sendEvents } from '../../exchange/event-stream.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { choice, flag, integer, readParameters, text, withDefault } from '../../exchange/parameters.ts';
import { parseQueryString } from '../../exchange/query-string.ts';
import type { Route } from '../../exchange/route.ts';
import { sendLargeJson } from '../../json/send-large-json.ts';
import { type HandleOrder, handleOrders, handlePage } from './page.ts';
import { type HandleSummary, handleSchema, handleSummary } from './summary.ts';

const defaultLimit = 100;

const parameters = {
  prefix: text('Only names that begin so, in this case; `owner/` for what a tenant shares.'),
  limit: withDefault(integer({ min: 1, max: 10_000 }, 'How many handles at most.'), defaultLimit),
  after: text('Where the page before ended: its `next`, with the same `order`.'),
  order: withDefault(
    choice(
      handleOrders.flatMap((order) => [order, `-${order}` as const]),
      'What they are sorted by, with - before it descending. Frames that do not have it come last.',
    ),
    'handle',
  ),
  desc: flag('Descending.'),
  state: choice(['held', 'damaged'], 'Only frames that are so.'),
  live: choice(
    ['sse'],
    'Tell of changes instead, as events that do not end: `put`, `append` and `drop`. Of the others only `prefix` has a meaning then.',
  ),
} as const;

/** Lists frames, page by page. */
export function handlesRoute(frames: Pick<Frames, 'list' | 'watchAll'>, followers: Followers, cache: ByteCache): Route {
  return {
    path: '/handles',
    methods: ['GET', 'HEAD'],
    follows: true,
    operations: {
      GET: {
        access: 'readFrames',
        summary: 'Lists the frames',
        description:
          'Those of the tenant, and among them, in the order of names, those that others share with it: as `owner/handle`, with `shared`.',
        parameters,
        responses: {
          200: {
            description: 'A page of them. `next` goes into `after` for the next one; it is null at the end.',
            content: {
              'application/json': {
                type: 'object',
                properties: {
                  handles: { type: 'array', items: handleSchema },
                  next: { type: ['string', 'null'] },
                },
                required: ['handles', 'next'],
              },
              'text/event-stream': { type: 'string' },
            },
          },
        },
        errors: ['invalid_parameter', 'overloaded'],
      },
    },
    async handle(exchange) {
      const given = readParameters(parameters, parseQueryString(exchange.target));
      const { prefix, after, limit, order } = given;
      if (given.live === 'sse' && exchange.method !== 'HEAD') {
        return await sendEvents(exchange, changeEvents(exchange, { frames, followers }, prefix ?? ''));
      }
      const descending = given.desc || order.startsWith('-');
      // Otherwise each page of many would cost as much as all of them.
      const behind = order === 'handle' && !descending ? after : undefined;
      const listed = frames.list(exchange.principal, { prefix, after: behind });
      const page = await handlePage(given.state === undefined ? listed : inState(listed, given.state), {
        order: order.replace('-', '') as HandleOrder,
        descending,
        after,
        limit,
      });
      await sendLargeJson(exchange, { handles: summaries(page.frames, exchange, cache), next: page.next ?? null });
    },
  };
}

/** Each is made once it is asked for. */
function* summaries(
  frames: readonly FrameSummary[],
  { principal }: Exchange,
  cache: ByteCache,
): Generator<HandleSummary, void, undefined> {
  for (const frame of frames) yield handleSummary(principal, frame, cache);
}

async function* inState(
  listed: AsyncIterable<FrameSummary>,
  state: FrameSummary['state'],
): AsyncGenerator<FrameSummary, void, undefined> {
  for await (const frame of listed) if (frame.state === state) yield frame;
}

async function* changeEvents(
  exchange: Exchange,
  parts: { readonly frames: Pick<Frames, 'watchAll'>; readonly followers: Followers },
  prefix: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { principal, signal, lane } = exchange;
  const onWaiting = (): void => exchange.uncount();
  for await (const change of handleEvents(parts, principal, { signal, lane, prefix, onWaiting })) {
    if (change === undefined) yield eventBytes({ event: 'progress', data: {} });
    else {
      const { kind: event, ...data } = change;
      yield eventBytes({ event, data });
    }
  }
}

import type { ByteCache } from '../../../cache/byte-cache.ts';
import { AppError } from '../../../core/errors/app-error.ts';
import { parseFrameName } from '../../../core/names/frame-name.ts';
import type { Frames } from '../../../frames/frames.ts';
import { refuseCrossSite } from '../../exchange/cross-site-guard.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { frameName, readParameters } from '../../exchange/parameters.ts';
import { parseQueryString } from '../../exchange/query-string.ts';
import type { Route } from '../../exchange/route.ts';
import { sendJson } from '../../json/send-json.ts';
import { sendLargeJson } from '../../json/send-large-json.ts';
import { handleSchema, handleSummary } from './summary.ts';

const segments = { handle: frameName('The handle of the frame.') };

/** Describes or drops one frame. */
export function handleRoute(frames: Pick<Frames, 'describe' | 'drop'>, cache: ByteCache): Route {
  return {
    path: '/handles/{handle}',
    methods: ['GET', 'HEAD', 'DELETE'],
    operations: {
      GET: {
        access: 'readFrames',
        summary: 'Describes a frame',
        description:
          'The ETag is its version, for If-Match. Asking does not count as a read: it does not renew the time to live.',
        parameters: {},
        segments,
        responses: { 200: { description: 'The frame.', content: { 'application/json': handleSchema } } },
        errors: ['invalid_handle', 'invalid_parameter', 'handle_not_found', 'handle_gone'],
      },
      DELETE: {
        access: 'writeFrames',
        summary: 'Drops a frame',
        description:
          'Readers that have begun go on to the end. With If-Match: "3" only version 3 is dropped: where the handle is at another version, or gone already, the answer is 410, so that a repeated DELETE never drops what came later.',
        parameters: {},
        headers: {
          'If-Match': { description: 'The version to drop, or *.', schema: { type: 'string', examples: ['"3"'] } },
        },
        segments,
        responses: {
          200: {
            description: 'It is dropped.',
            content: {
              'application/json': {
                type: 'object',
                properties: {
                  handle: { type: 'string' },
                  version: { type: 'integer' },
                  dropped: { type: 'boolean', const: true },
                },
                required: ['handle', 'version', 'dropped'],
              },
            },
          },
        },
        errors: ['invalid_handle', 'invalid_parameter', 'handle_not_found', 'handle_gone', 'storage_read_only'],
      },
    },
    handle(exchange) {
      readParameters({}, parseQueryString(exchange.target));
      return exchange.method === 'DELETE' ? drop(exchange, frames) : describe(exchange, frames, cache);
    },
  };
}

async function describe(exchange: Exchange, frames: Pick<Frames, 'describe'>, cache: ByteCache): Promise<void> {
  const wanted = parseFrameName(exchange.segments[0] ?? '');
  const frame = await frames.describe(exchange.principal, wanted, { signal: exchange.signal });
  exchange.headers.push('etag', `"${frame.version}"`);
  await sendLargeJson(exchange, handleSummary(exchange.principal, frame, cache));
}

async function drop(exchange: Exchange, frames: Pick<Frames, 'drop'>): Promise<void> {
  refuseCrossSite(exchange);
  const wanted = parseFrameName(exchange.segments[0] ?? '');
  const ifVersion = parseIfMatch(exchange.requestHeaders['if-match']);
  const version = await frames.drop(exchange.principal, wanted, { ifVersion });
  sendJson(exchange, { handle: wanted, version, dropped: true });
}

/** One version, in quotes or without; `*` is any. */
function parseIfMatch(text: string | undefined): number | undefined {
  if (text === undefined || text.trim() === '*') return undefined;
  const digits = /^\s*(?:"(\d{1,15})"|(\d{1,15}))\s*$/.exec(text);
  if (digits !== null) return Number(digits[1] ?? digits[2]);
  throw new AppError('invalid_parameter', `If-Match ${JSON.stringify(text.slice(0, 100))} names no version`, {
    hint: 'give the ETag of GET /handles/{handle}, for example If-Match: "3"',
  });
}

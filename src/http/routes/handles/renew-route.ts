import type { ByteCache } from '../../../cache/byte-cache.ts';
import { AppError } from '../../../core/errors/app-error.ts';
import { parseFrameName } from '../../../core/names/frame-name.ts';
import type { Frames } from '../../../frames/frames.ts';
import { refuseCrossSite } from '../../exchange/cross-site-guard.ts';
import { frameName, readParameters, timeToLive } from '../../exchange/parameters.ts';
import { parseQueryString } from '../../exchange/query-string.ts';
import type { Route } from '../../exchange/route.ts';
import { type JsonLimits, jsonBody } from '../../json/json-body.ts';
import { parseTtl, ttlSchema } from '../../json/json-ttl.ts';
import { sendLargeJson } from '../../json/send-large-json.ts';
import { handleSchema, handleSummary } from './summary.ts';

const parameters = { ttl: timeToLive('Another time to live; `none`: the frame stays. Default: the one that it has.') };

/** Starts the time to live of a frame again. */
export function renewRoute(frames: Pick<Frames, 'renew'>, cache: ByteCache, limits: JsonLimits): Route {
  return {
    path: '/handles/{handle}/renew',
    methods: ['POST'],
    takesBody: true,
    operations: {
      POST: {
        access: 'writeFrames',
        summary: 'Starts the time to live of a frame again',
        parameters,
        segments: { handle: frameName('The handle of the frame.') },
        requestBody: {
          required: false,
          description: 'The same as the parameter `ttl`, for clients that rather send JSON.',
          content: {
            'application/json': {
              type: 'object',
              properties: { ttl: ttlSchema },
              additionalProperties: false,
              examples: [{ ttl: '15m' }, { ttl: 900 }, { ttl: null }],
            },
          },
        },
        responses: { 200: { description: 'The frame.', content: { 'application/json': handleSchema } } },
        errors: [
          'invalid_handle',
          'invalid_parameter',
          'invalid_input',
          'too_large',
          'handle_not_found',
          'handle_gone',
          'frame_damaged',
          'storage_read_only',
          'storage_full',
        ],
      },
    },
    async handle(exchange) {
      refuseCrossSite(exchange);
      const { ttl } = readParameters(parameters, parseQueryString(exchange.target));
      const wanted = parseFrameName(exchange.segments[0] ?? '');
      const body = await jsonBody(exchange, ['ttl'], limits);
      const inBody = parseTtl(body?.get('ttl'));
      if (ttl !== undefined && inBody !== undefined) {
        throw new AppError('invalid_parameter', 'ttl is given in the query string and in the body', {
          hint: 'give it once',
        });
      }
      const frame = await frames.renew(exchange.principal, wanted, ttl === undefined ? inBody : ttl);
      await sendLargeJson(exchange, handleSummary(exchange.principal, frame, cache));
    },
  };
}

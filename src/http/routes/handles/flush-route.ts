import type { ByteCache } from '../../../cache/byte-cache.ts';
import { parseFrameName } from '../../../core/names/frame-name.ts';
import type { Frames } from '../../../frames/frames.ts';
import { refuseCrossSite } from '../../exchange/cross-site-guard.ts';
import { frameName, readParameters } from '../../exchange/parameters.ts';
import { parseQueryString } from '../../exchange/query-string.ts';
import type { Route } from '../../exchange/route.ts';
import { sendLargeJson } from '../../json/send-large-json.ts';
import { handleSchema, handleSummary } from './summary.ts';

/** Brings the rows of a frame that are only in its log into Parquet. */
export function flushRoute(frames: Pick<Frames, 'flush'>, cache: ByteCache): Route {
  return {
    path: '/handles/{handle}/flush',
    methods: ['POST'],
    operations: {
      POST: {
        access: 'writeFrames',
        summary: 'Brings appended rows that are only in the log of a frame into Parquet',
        parameters: {},
        segments: { handle: frameName('The handle of the frame.') },
        responses: {
          200: {
            description: 'The frame. All rows that it had when the request came are in Parquet files.',
            content: { 'application/json': handleSchema },
          },
        },
        errors: [
          'invalid_handle',
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
      readParameters({}, parseQueryString(exchange.target));
      const wanted = parseFrameName(exchange.segments[0] ?? '');
      const frame = await frames.flush(exchange.principal, wanted);
      await sendLargeJson(exchange, handleSummary(exchange.principal, frame, cache));
    },
  };
}

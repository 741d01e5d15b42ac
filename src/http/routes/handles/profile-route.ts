import { AppError } from '../../../core/errors/app-error.ts';
import { parseFrameName } from '../../../core/names/frame-name.ts';
import { execColumn } from '../../../encoding/rows/exec-column.ts';
import { frameDamaged } from '../../../frames/catalog/frame-errors.ts';
import type { Frames } from '../../../frames/frames.ts';
import {
  type ColumnProfile,
  type ColumnProfiler,
  type ProfilePart,
  profileParts,
} from '../../../plot/column-profiler.ts';
import { entityTag, matchesEntityTag, sendNotModified } from '../../exchange/entity-tag.ts';
import { jsonContentType } from '../../exchange/error-response.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { Operation } from '../../exchange/operation.ts';
import { flag, frameName, invalidParameter, type Parameter, readParameters } from '../../exchange/parameters.ts';
import { parseQueryString } from '../../exchange/query-string.ts';
import type { Route } from '../../exchange/route.ts';
import { frameErrors, sqlErrors } from '../../openapi/error-groups.ts';

export interface ProfileRouteOptions {
  readonly frames: Pick<Frames, 'describe'>;
  readonly profiler: ColumnProfiler;
  readonly settings: { readonly requestTimeoutMs: number };
}

const usualParts: readonly ProfilePart[] = ['values', 'top', 'histogram'];

const profileParameters = {
  column: {
    description: 'The column: of several of that name, the first.',
    schema: { type: 'string' },
    parse(text, name): string {
      if (text !== undefined) return text;
      throw new AppError('missing_parameter', `${name} is not given`, { hint: `add ${name}=NAME` });
    },
  } satisfies Parameter<string>,
  parts: {
    description:
      'Which parts, with commas between them: `values` (counts, least, greatest, average and about how many different ones; always told), `top` (the 20 commonest values), `histogram` (50 bins at most, for numbers and times), `quantiles`.',
    schema: { type: 'string', default: usualParts.join(',') },
    parse(text, name): readonly ProfilePart[] {
      if (text === undefined) return usualParts;
      return text.split(',').map((word) => {
        const part = profileParts.find((each) => each === word.trim().toLowerCase());
        if (part === undefined) throw invalidParameter(name, word, `the parts are ${profileParts.join(', ')}`);
        return part;
      });
    },
  } satisfies Parameter<readonly ProfilePart[]>,
  quantiles: flag('The quantiles too, which take longer than all the rest.'),
} as const;

/** The profile of a column's values. */
export function profileRoute({ frames, profiler, settings }: ProfileRouteOptions): Route {
  return {
    path: '/handles/{handle}/profile',
    methods: ['GET', 'HEAD'],
    operations: { GET: operation },
    async handle(exchange) {
      const { column, parts, quantiles } = readParameters(profileParameters, parseQueryString(exchange.target));
      const { principal, signal, lane, requestId, requestHeaders } = exchange;
      const handle = parseFrameName(exchange.segments[0] ?? '');
      const frame = await frames.describe(principal, handle, { signal });
      if (frame.state === 'damaged') throw frameDamaged(handle, frame.reason);
      const etag = entityTag(frame.versionId, undefined);
      const isView = frame.view !== undefined;
      if (!isView && matchesEntityTag(requestHeaders['if-none-match'], etag)) return sendNotModified(exchange, etag);
      exchange.answerWithin(settings.requestTimeoutMs);
      const wanted = { column, parts: new Set<ProfilePart>(quantiles ? [...parts, 'quantiles'] : parts) };
      const profile = await profiler.profile(principal, frame, wanted, { signal, lane, requestId });
      const after = await frames.describe(principal, handle, { signal });
      const isSame = after.state === 'held' && after.versionId === frame.versionId && !isView;
      sendProfile(exchange, { handle, ...profileDocument(profile) }, isSame ? etag : undefined);
    },
  };
}

/** Without a tag where the frame has changed meanwhile: its parts may be of two versions. */
function sendProfile(exchange: Exchange, document: object, etag: string | undefined): void {
  const text = JSON.stringify(document);
  exchange.headers.push('content-type', jsonContentType, 'content-length', String(Buffer.byteLength(text)));
  if (etag !== undefined) exchange.headers.push('etag', etag);
  exchange.headers.push(...exchange.cacheControl(etag === undefined ? 'no-store' : 'no-cache'));
  exchange.send(200, text);
}

function profileDocument({ column, distinctIsExact, ...profile }: ColumnProfile): object {
  const { name, type } = execColumn(column);
  return { column: name, type, ...profile, distinct_exact: distinctIsExact };
}

const cell = {
  type: ['string', 'number', 'boolean', 'null'],
  description: 'As a cell of /exec with quoteLargeNum=true, but NaN, Infinity and -Infinity as text.',
} as const;
const integer = { type: 'integer' } as const;

const profileSchema = {
  type: 'object',
  properties: {
    handle: { type: 'string' },
    column: { type: 'string' },
    type: { type: 'string' },
    rows: integer,
    count: { ...integer, description: 'Values that are not NULL.' },
    nulls: integer,
    nans: { ...integer, description: 'Of floating-point numbers.' },
    min: cell,
    max: cell,
    mean: { type: ['number', 'null'] },
    distinct: {
      type: ['integer', 'null'],
      description: 'How many different values there are.',
    },
    distinct_exact: {
      type: 'boolean',
      description:
        'Whether `distinct` was counted, as it is with `top`, unless there are about a million or more. Else it is an estimate, wrong by a third at times.',
    },
    top: {
      type: ['array', 'null'],
      description:
        'The commonest values; null where there are more than a million different ones. Texts are cut after 200 characters.',
      items: { type: 'object', properties: { value: cell, count: integer }, required: ['value', 'count'] },
    },
    histogram: {
      type: ['object', 'null'],
      description: 'Times are µs since 1970. Bins without values are left out.',
      properties: {
        step: { type: 'number' },
        bins: {
          type: 'array',
          items: {
            type: 'object',
            properties: { from: { type: 'number' }, to: { type: 'number' }, count: integer },
            required: ['from', 'to', 'count'],
          },
        },
      },
      required: ['step', 'bins'],
    },
    quantiles: {
      type: ['array', 'null'],
      items: { type: 'object', properties: { rank: { type: 'number' }, value: cell }, required: ['rank', 'value'] },
    },
  },
  required: [
    'handle',
    'column',
    'type',
    'rows',
    'count',
    'nulls',
    'nans',
    'min',
    'max',
    'mean',
    'distinct',
    'distinct_exact',
    'top',
    'histogram',
    'quantiles',
  ],
} as const;

const operation: Operation = {
  access: 'readFrames',
  summary: 'Tells what the values of a column are like',
  description:
    'It runs as statements of the caller. The ETag is the version of the frame: with If-None-Match a repeated question costs nothing. Of lists, structs and other nested values only NULLs are counted.',
  parameters: profileParameters,
  headers: {
    'If-None-Match': { description: 'The ETag of an earlier answer.', schema: { type: 'string' } },
  },
  segments: { handle: frameName('The handle of the frame.') },
  responses: {
    200: { description: 'The profile.', content: { 'application/json': profileSchema } },
    304: { description: 'The frame is the same as before.', content: {} },
  },
  errors: ['missing_parameter', 'invalid_parameter', 'overloaded', 'rate_limited', ...frameErrors, ...sqlErrors],
};

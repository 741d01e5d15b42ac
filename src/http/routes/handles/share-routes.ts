import type { FrameShares } from '../../../auth/frame-shares.ts';
import { isTenant, type Tenant } from '../../../core/callers/principal.ts';
import { parseFrameName } from '../../../core/names/frame-name.ts';
import { refuseCrossSite } from '../../exchange/cross-site-guard.ts';
import { frameName, invalidParameter, type Parameter, readParameters } from '../../exchange/parameters.ts';
import { parseQueryString } from '../../exchange/query-string.ts';
import type { Route } from '../../exchange/route.ts';
import { sendJson } from '../../json/send-json.ts';

const handle = frameName('The handle of a frame of your own.');

const tenant: Parameter<Tenant | undefined> = {
  description: 'The tenant that reads the frame. The answer is the same whether there is such a tenant or not.',
  schema: { type: 'string' },
  parse(value, name) {
    if (value === undefined || isTenant(value)) return value;
    throw invalidParameter(name, value, 'a tenant has 1 to 63 characters of a-z 0-9 _ -, and no name of SQL');
  },
};

const shareSchema = {
  type: 'object',
  properties: { handle: { type: 'string' }, tenant: { type: 'string' }, shared: { type: 'boolean' } },
  required: ['handle', 'tenant', 'shared'],
} as const;

const errors = ['invalid_handle', 'invalid_parameter', 'handle_not_found', 'handle_gone'] as const;

/** Lists the tenants that a frame is shared with. */
export function sharesRoute(shares: FrameShares): Route {
  return {
    path: '/handles/{handle}/shares',
    methods: ['GET', 'HEAD'],
    operations: {
      GET: {
        access: 'manageShares',
        summary: 'Lists the tenants that a frame is shared with',
        parameters: {},
        segments: { handle },
        responses: {
          200: {
            description: 'In order of their names.',
            content: {
              'application/json': {
                type: 'object',
                properties: {
                  shares: {
                    type: 'array',
                    items: { type: 'object', properties: { tenant: { type: 'string' } }, required: ['tenant'] },
                  },
                },
                required: ['shares'],
              },
            },
          },
        },
        errors,
      },
    },
    async handle(exchange) {
      readParameters({}, parseQueryString(exchange.target));
      const name = parseFrameName(exchange.segments[0] ?? '');
      const tenants = await shares.list(exchange.principal, name, exchange);
      sendJson(exchange, { shares: tenants.map((each) => ({ tenant: each })) });
    },
  };
}

/** Shares a frame, or ends that. */
export function shareRoute(shares: FrameShares): Route {
  return {
    path: '/handles/{handle}/shares/{tenant}',
    methods: ['PUT', 'DELETE'],
    operations: {
      PUT: {
        access: 'manageShares',
        summary: 'Shares a frame with another tenant, which may read it',
        description:
          'The other tenant names it `owner/handle`, in SQL `owner.handle`. The share survives overwrite and append; it ends with the drop.',
        parameters: {},
        segments: { handle, tenant },
        responses: { 200: { description: 'It is shared.', content: { 'application/json': shareSchema } } },
        errors: [...errors, 'invalid_input', 'frame_damaged', 'quota_exceeded', 'storage_full', 'storage_read_only'],
      },
      DELETE: {
        access: 'manageShares',
        summary: 'Ends the share of a frame with a tenant',
        description: 'All servers of the directory know within a second. Reads that have begun go on to their end.',
        parameters: {},
        segments: { handle, tenant },
        responses: { 200: { description: 'It is not shared.', content: { 'application/json': shareSchema } } },
        errors: [...errors, 'invalid_input', 'not_found', 'storage_read_only'],
      },
    },
    async handle(exchange) {
      refuseCrossSite(exchange);
      readParameters({}, parseQueryString(exchange.target));
      const { principal, method } = exchange;
      const [handleText = '', tenantText = ''] = exchange.segments;
      const name = parseFrameName(handleText);
      const reader = tenant.parse(tenantText, 'tenant') as Tenant;
      const shared = method === 'PUT';
      const changed = await (shared
        ? shares.share(principal, name, reader, exchange)
        : shares.unshare(principal, name, reader, exchange));
      sendJson(exchange, { handle: changed, tenant: reader, shared });
    },
  };
}

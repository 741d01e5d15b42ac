import type { AccessRecords } from '../../auth/access-records.ts';
import { assertMay } from '../../auth/rights.ts';
import { parseTenant } from '../../auth/tenant-registry.ts';
import { looksLikeToken } from '../../auth/token.ts';
import { checkTokenName, longestTokenName, tokenDocument } from '../../auth/token-registry.ts';
import { hasRole, isRole, type Principal, type Role, roles, type Tenant } from '../../core/callers/principal.ts';
import { AppError } from '../../core/errors/app-error.ts';
import { parseDurationMs } from '../../core/text/duration.ts';
import type { JsonValue } from '../../encoding/json/json-text.ts';
import { refuseCrossSite } from '../exchange/cross-site-guard.ts';
import { type Parameter, readParameters } from '../exchange/parameters.ts';
import { parseQueryString } from '../exchange/query-string.ts';
import type { Route } from '../exchange/route.ts';
import { type JsonLimits, jsonBody, wrongType } from '../json/json-body.ts';
import { sendJson } from '../json/send-json.ts';

const tokenSchema = {
  type: 'object',
  properties: {
    id: { type: 'string', description: 'Names the token; it is no secret.' },
    name: { type: 'string' },
    tenant: { type: ['string', 'null'], description: "null: an operator's." },
    role: { type: 'string', enum: [...roles] },
    prefix: { type: ['string', 'null'] },
    created: { type: 'string', format: 'date-time' },
    expires: { type: ['string', 'null'], format: 'date-time' },
    last_used: { type: ['string', 'null'], format: 'date', description: 'The day, in UTC.' },
  },
  required: ['id', 'name', 'tenant', 'role', 'prefix', 'created', 'expires', 'last_used'],
} as const;

const tokensSchema = {
  type: 'object',
  properties: { tokens: { type: 'array', items: tokenSchema } },
  required: ['tokens'],
} as const;

const newTokenSchema = {
  ...tokenSchema,
  properties: { ...tokenSchema.properties, token: { type: 'string', description: 'The secret.' } },
  required: [...tokenSchema.required, 'token'],
} as const;

const tokenRequestSchema = {
  type: 'object',
  properties: {
    name: { type: 'string', description: `At most ${longestTokenName} characters.` },
    role: { type: 'string', enum: [...roles], description: 'At most your own.' },
    expires: { type: 'string', description: 'Time that it is good for, such as 90d. Default: for ever.' },
    prefix: { type: 'string', description: 'Only handles that begin so can be used with it.' },
    tenant: { type: 'string', description: "Whose it is. Default: your own. Others': only for operators." },
  },
  required: ['name', 'role'],
  additionalProperties: false,
} as const;

/** Errors of each route that makes a token. */
const makeErrors = [
  'invalid_parameter',
  'invalid_input',
  'too_large',
  'not_found',
  'quota_exceeded',
  'storage_full',
  'storage_read_only',
] as const;

/** Lists and makes tokens. */
export function tokensRoute(records: AccessRecords, limits: JsonLimits): Route {
  return {
    path: '/tokens',
    methods: ['GET', 'HEAD', 'POST'],
    takesBody: true,
    operations: {
      GET: {
        access: 'manageTokens',
        summary: 'Lists the tokens of the tenant',
        description: 'Never their secrets. An operator sees those of all tenants.',
        parameters: {},
        responses: {
          200: {
            description: 'The oldest first.',
            content: {
              'application/json': tokensSchema,
            },
          },
        },
        errors: ['invalid_parameter'],
      },
      POST: {
        access: 'manageTokens',
        summary: 'Makes a token',
        description: 'The secret is in the answer, once; it is kept nowhere.',
        parameters: {},
        requestBody: {
          required: true,
          description: 'What the token is for.',
          content: {
            'application/json': tokenRequestSchema,
          },
        },
        responses: {
          200: {
            description: 'The token.',
            content: {
              'application/json': newTokenSchema,
            },
          },
        },
        errors: ['missing_parameter', ...makeErrors],
      },
    },
    async handle(exchange) {
      readParameters({}, parseQueryString(exchange.target));
      const { principal } = exchange;
      if (exchange.method !== 'POST') {
        sendJson(exchange, { tokens: (await records.listTokens(scopeOf(principal))).map(tokenDocument) });
        return;
      }
      refuseCrossSite(exchange);
      const body = await jsonBody(exchange, ['name', 'role', 'expires', 'prefix', 'tenant'], limits);
      const wanted = parseToken(body ?? new Map(), principal);
      const { token, record } = await records.createToken(wanted);
      exchange.concerns(record.id);
      exchange.forbidStoring();
      sendJson(exchange, { ...tokenDocument(record), token });
    },
  };
}

/** Revokes a token. */
export function tokenRoute(records: AccessRecords): Route {
  return {
    path: '/tokens/{id}',
    methods: ['DELETE'],
    operations: {
      DELETE: {
        access: 'manageTokens',
        summary: 'Revokes a token',
        description: 'All servers of the directory refuse it within a second.',
        parameters: {},
        segments: { id: idParameter },
        responses: {
          200: {
            description: 'It is revoked.',
            content: {
              'application/json': {
                type: 'object',
                properties: { id: { type: 'string' }, revoked: { type: 'boolean', const: true } },
                required: ['id', 'revoked'],
              },
            },
          },
        },
        errors: ['invalid_parameter', 'invalid_input', 'not_found', 'storage_read_only'],
      },
    },
    async handle(exchange) {
      refuseCrossSite(exchange);
      readParameters({}, parseQueryString(exchange.target));
      const id = exchange.segments[0] ?? '';
      if (!(await records.revokeToken(id, scopeOf(exchange.principal)))) throw noSuchToken(id);
      sendJson(exchange, { id, revoked: true });
    },
  };
}

/** Replaces a token. */
export function rotateTokenRoute(records: AccessRecords, limits: JsonLimits): Route {
  return {
    path: '/tokens/{id}/rotate',
    methods: ['POST'],
    takesBody: true,
    operations: {
      POST: {
        access: 'manageTokens',
        summary: 'Makes another token with the rights of one, which ends after a while',
        parameters: {},
        segments: { id: idParameter },
        requestBody: {
          required: false,
          description: 'How long the old one stays good.',
          content: {
            'application/json': {
              type: 'object',
              properties: { overlap: { type: 'string', description: 'A duration. Default: 24h.' } },
              additionalProperties: false,
            },
          },
        },
        responses: { 200: { description: 'The new token.', content: { 'application/json': newTokenSchema } } },
        errors: makeErrors,
      },
    },
    async handle(exchange) {
      refuseCrossSite(exchange);
      readParameters({}, parseQueryString(exchange.target));
      const { principal } = exchange;
      const body = await jsonBody(exchange, ['overlap'], limits);
      const overlapMs = parseDurationMs((body && textOf(body, 'overlap')) ?? '24h');
      const id = exchange.segments[0] ?? '';
      const made = await records.rotateToken(id, overlapMs, scopeOf(principal));
      if (made === undefined) throw noSuchToken(id);
      exchange.concerns(`${id} ${made.record.id}`);
      exchange.forbidStoring();
      sendJson(exchange, { ...tokenDocument(made.record), token: made.token });
    },
  };
}

const idParameter: Parameter<string | undefined> = {
  description: 'As GET /tokens shows it.',
  schema: { type: 'string' },
  parse: (value) => value,
};

/** The tenant whose tokens a caller may see: for an operator, all. */
function scopeOf({ role, tenant }: Principal): Tenant | undefined {
  return role === 'operator' ? undefined : tenant;
}

function noSuchToken(id: string): AppError {
  // A caller that sends the token itself must not find it in a log.
  const named = looksLikeToken(id) ? 'of this id: it is a token itself' : JSON.stringify(id.slice(0, 100));
  return new AppError('not_found', `there is no token ${named}`, {
    hint: 'GET /tokens lists them',
  });
}

function parseToken(body: ReadonlyMap<string, JsonValue>, principal: Principal) {
  const name = textOf(body, 'name');
  const role = textOf(body, 'role');
  if (name === undefined || role === undefined) {
    throw new AppError('missing_parameter', `the token has no ${name === undefined ? 'name' : 'role'}`, {
      hint: 'send {"name":"ci","role":"write"}',
    });
  }
  checkTokenName(name);
  if (!isRole(role)) {
    throw new AppError('invalid_parameter', `role ${JSON.stringify(role.slice(0, 100))} is not known`, {
      hint: `use one of ${roles.join(', ')}`,
    });
  }
  checkRole(principal, role);
  const expires = textOf(body, 'expires');
  const prefix = textOf(body, 'prefix');
  const tenant = tenantOf(principal, textOf(body, 'tenant'));
  return {
    name,
    role,
    tenant: role === 'operator' ? undefined : tenant,
    prefix: prefix === '' ? undefined : prefix,
    expiresAt: expires === undefined ? undefined : Date.now() + parseDurationMs(expires),
  };
}

function tenantOf(principal: Principal, named: string | undefined): Tenant {
  if (named === undefined || named === principal.tenant) return principal.tenant;
  assertMay(principal, 'manageTenants');
  return parseTenant(named);
}

/** A caller cannot grant more rights than it has. */
function checkRole(principal: Principal, role: Role): void {
  if (!hasRole(principal.role, role)) assertMay(principal, 'manageTenants');
}

function textOf(body: ReadonlyMap<string, JsonValue>, key: string): string | undefined {
  const value = body.get(key);
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw wrongType(key, value, 'a string');
  return value;
}

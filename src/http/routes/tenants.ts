import type { TenantChange, TenantRegistry } from '../../auth/tenant-registry.ts';
import { AppError } from '../../core/errors/app-error.ts';
import type { JsonValue } from '../../encoding/json/json-text.ts';
import { refuseCrossSite } from '../exchange/cross-site-guard.ts';
import { type Parameter, readParameters } from '../exchange/parameters.ts';
import { parseQueryString } from '../exchange/query-string.ts';
import type { Route } from '../exchange/route.ts';
import { type JsonLimits, jsonBody, wrongType } from '../json/json-body.ts';
import { sendJson } from '../json/send-json.ts';

const limitKeys = ['max_frames', 'max_bytes', 'max_rate', 'max_statements'] as const;
const limitSchemas = {
  max_frames: { type: ['integer', 'null'], minimum: 0, description: 'Frames that it may hold. null: no limit.' },
  max_bytes: { type: ['integer', 'null'], minimum: 0, description: 'Bytes of cold files. null: no limit.' },
  max_rate: { type: ['integer', 'null'], minimum: 1, description: 'Requests a second. null: no limit.' },
  max_statements: { type: ['integer', 'null'], minimum: 0, description: 'Statements under way. null: no limit.' },
} as const;
const enginesSchema = { type: 'array', items: { type: 'string' } } as const;

const tenantSchema = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    created: { type: ['string', 'null'], format: 'date-time' },
    ...limitSchemas,
    engines: { ...enginesSchema, type: ['array', 'null'], description: 'Beside local. null: all, as default has.' },
  },
  required: ['name', 'created', ...limitKeys, 'engines'],
} as const;

const tenantsSchema = {
  type: 'object',
  properties: { tenants: { type: 'array', items: tenantSchema } },
  required: ['tenants'],
} as const;

const changeSchema = {
  type: 'object',
  properties: { ...limitSchemas, engines: { ...enginesSchema, description: 'tsdb, analytics, or engines by name.' } },
  additionalProperties: false,
} as const;

const tenantAnswer = { 200: { description: 'The tenant.', content: { 'application/json': tenantSchema } } };
const changeErrors = ['invalid_parameter', 'invalid_input', 'too_large', 'storage_full', 'storage_read_only'] as const;

const nameParameter: Parameter<string | undefined> = {
  description: 'Name of the tenant.',
  schema: { type: 'string' },
  parse: (value) => value,
};

/** Lists and makes tenants. */
export function tenantsRoute(tenants: TenantRegistry, limits: JsonLimits): Route {
  return {
    path: '/tenants',
    methods: ['GET', 'HEAD', 'POST'],
    takesBody: true,
    operations: {
      GET: {
        access: 'manageTenants',
        summary: 'Lists the tenants',
        parameters: {},
        responses: {
          200: {
            description: 'In order of their names.',
            content: {
              'application/json': tenantsSchema,
            },
          },
        },
        errors: ['invalid_parameter'],
      },
      POST: {
        access: 'manageTenants',
        summary: 'Makes a tenant',
        description: 'Without limits but those that are given, and with no engine but local and those that are given.',
        parameters: {},
        requestBody: {
          required: true,
          description: 'Its name, and what it may use.',
          content: {
            'application/json': {
              ...changeSchema,
              properties: { name: { type: 'string' }, ...changeSchema.properties },
              required: ['name'],
            },
          },
        },
        responses: tenantAnswer,
        errors: ['missing_parameter', ...changeErrors],
      },
    },
    async handle(exchange) {
      readParameters({}, parseQueryString(exchange.target));
      if (exchange.method !== 'POST') {
        sendJson(exchange, { tenants: await tenants.list() });
        return;
      }
      refuseCrossSite(exchange);
      const body = await jsonBody(exchange, ['name', ...limitKeys, 'engines'], limits);
      const name = body?.get('name') ?? undefined;
      if (name === undefined) {
        throw new AppError('missing_parameter', 'the tenant has no name', { hint: 'send {"name":"acme"}' });
      }
      if (typeof name !== 'string') throw wrongType('name', name, 'a string');
      exchange.concerns(name);
      sendJson(exchange, await tenants.create(name, parseChange(body ?? new Map())));
    },
  };
}

/** Changes and removes a tenant. */
export function tenantRoute(tenants: TenantRegistry, limits: JsonLimits): Route {
  return {
    path: '/tenants/{name}',
    methods: ['PATCH', 'DELETE'],
    takesBody: true,
    operations: {
      PATCH: {
        access: 'manageTenants',
        summary: 'Changes what a tenant may use',
        description: 'What is left out stays. All servers of the directory know of it within a second.',
        parameters: {},
        segments: { name: nameParameter },
        requestBody: {
          required: true,
          description: 'What is to change.',
          content: { 'application/json': changeSchema },
        },
        responses: tenantAnswer,
        errors: ['not_found', ...changeErrors],
      },
      DELETE: {
        access: 'manageTenants',
        summary: 'Removes a tenant that has no frames',
        description: 'Its tokens and shares end with it. `default` cannot be removed.',
        parameters: {},
        segments: { name: nameParameter },
        responses: {
          200: {
            description: 'It is removed.',
            content: {
              'application/json': {
                type: 'object',
                properties: { name: { type: 'string' }, removed: { type: 'boolean', const: true } },
                required: ['name', 'removed'],
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
      const name = exchange.segments[0] ?? '';
      if (exchange.method === 'DELETE') {
        await tenants.remove(name);
        sendJson(exchange, { name, removed: true });
        return;
      }
      const body = await jsonBody(exchange, [...limitKeys, 'engines'], limits);
      sendJson(exchange, await tenants.set(name, parseChange(body ?? new Map())));
    },
  };
}

function parseChange(body: ReadonlyMap<string, JsonValue>): TenantChange {
  const change: Record<string, number | null | readonly string[]> = {};
  for (const key of limitKeys) {
    const value = body.get(key);
    if (value === undefined) continue;
    if (value !== null && typeof value !== 'number') throw wrongType(key, value, 'a whole number, or null');
    change[key] = value;
  }
  const engines = body.get('engines') ?? undefined;
  if (engines !== undefined) {
    const isList = Array.isArray(engines) && engines.every((name) => typeof name === 'string');
    if (!isList) throw wrongType('engines', engines, 'a list of names');
    change.engines = engines;
  }
  return change;
}

import { roles } from '../../core/callers/principal.ts';
import type { Frames } from '../../frames/frames.ts';
import { readParameters } from '../exchange/parameters.ts';
import { parseQueryString } from '../exchange/query-string.ts';
import type { Route } from '../exchange/route.ts';
import { sendJson } from '../json/send-json.ts';
import { isoTime } from './handles/summary.ts';

const identitySchema = {
  type: 'object',
  properties: {
    tenant: { type: 'string' },
    name: { type: 'string', description: 'Of the token, of the subject of a JWT, or of a certificate.' },
    role: { type: 'string', enum: [...roles] },
    prefix: { type: ['string', 'null'], description: 'Only handles that begin so can be used.' },
    credential: { type: 'string', enum: ['none', 'anonymous', 'token', 'jwt', 'certificate'] },
    expires: { type: ['string', 'null'], format: 'date-time', description: 'When the credential ends.' },
    use: {
      type: 'object',
      description: 'What the tenant holds.',
      properties: { frames: { type: 'integer' }, bytes: { type: 'integer' } },
      required: ['frames', 'bytes'],
    },
    limits: {
      type: 'object',
      description: 'What the tenant may use. null: no limit.',
      properties: {
        max_frames: { type: ['integer', 'null'] },
        max_bytes: { type: ['integer', 'null'] },
        max_rate: { type: ['integer', 'null'], description: 'Requests a second.' },
        max_statements: { type: ['integer', 'null'], description: 'Under way.' },
        engines: { type: ['array', 'null'], items: { type: 'string' }, description: 'Beside local.' },
      },
      required: ['max_frames', 'max_bytes', 'max_rate', 'max_statements', 'engines'],
    },
  },
  required: ['tenant', 'name', 'role', 'prefix', 'credential', 'expires', 'use', 'limits'],
} as const;

/** The caller's identity, and the limits of its tenant. */
export function whoamiRoute(frames: Pick<Frames, 'use'>): Route {
  return {
    path: '/whoami',
    methods: ['GET', 'HEAD'],
    operations: {
      GET: {
        access: 'readFrames',
        summary: 'Who the caller is',
        parameters: {},
        responses: {
          200: {
            description: 'The tenant and the role that the credential gives.',
            content: {
              'application/json': identitySchema,
            },
          },
        },
        errors: ['invalid_parameter'],
      },
    },
    async handle(exchange) {
      readParameters({}, parseQueryString(exchange.target));
      const { tenant, name, role, prefix = null, credential, expiresAt, limits } = exchange.principal;
      const expires = expiresAt === undefined ? null : isoTime(expiresAt);
      const { frames: held, bytes } = await frames.use(exchange.principal);
      sendJson(exchange, {
        tenant,
        name,
        role,
        prefix,
        credential,
        expires,
        use: { frames: held, bytes },
        limits: {
          max_frames: limits?.maxFrames ?? null,
          max_bytes: limits?.maxBytes ?? null,
          max_rate: limits?.maxRate ?? null,
          max_statements: limits?.maxStatements ?? null,
          engines: limits?.engines ?? null,
        },
      });
    },
  };
}

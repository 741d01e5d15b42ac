import { type DownloadTickets, ticketLifetimeMs } from '../../auth/download-tickets.ts';
import { AppError } from '../../core/errors/app-error.ts';
import { refuseCrossSite } from '../exchange/cross-site-guard.ts';
import { readParameters } from '../exchange/parameters.ts';
import { parseQueryString } from '../exchange/query-string.ts';
import type { Route } from '../exchange/route.ts';
import { boundRequest, splitTicket } from '../exchange/ticket-target.ts';
import { type JsonLimits, jsonBody, wrongType } from '../json/json-body.ts';
import { sendJson } from '../json/send-json.ts';
import { isoTime } from './handles/summary.ts';

/** As long as a request may be, with some room for the rest of it. */
const longestPath = 15_000;

/** Gives tickets for links, which cannot carry credentials. `paths`: of the routes that take them. */
export function ticketsRoute(tickets: DownloadTickets, paths: readonly string[], limits: JsonLimits): Route {
  return {
    path: '/tickets',
    methods: ['POST'],
    takesBody: true,
    operations: {
      POST: {
        access: 'readFrames',
        summary: 'A ticket for a link',
        description: `A link carries no credentials. With \`ticket=…\` added to its query string, the request is served as if the caller who asked for the ticket had sent it: once, as GET, for exactly this path and these parameters, within ${ticketLifetimeMs / 1000} s, on the same server, and while the credential of that caller is good.`,
        parameters: {},
        requestBody: {
          required: true,
          description: 'What the link is for.',
          content: {
            'application/json': {
              type: 'object',
              properties: { path: { type: 'string', description: `Path and query string of ${paths.join(' or ')}.` } },
              required: ['path'],
            },
          },
        },
        responses: {
          200: {
            description: 'The ticket.',
            content: {
              'application/json': {
                type: 'object',
                properties: {
                  ticket: { type: 'string', description: 'A secret.' },
                  expires: { type: 'string', format: 'date-time' },
                },
                required: ['ticket', 'expires'],
              },
            },
          },
        },
        errors: ['invalid_parameter', 'missing_parameter', 'invalid_input', 'too_large', 'rate_limited'],
      },
    },
    async handle(exchange) {
      readParameters({}, parseQueryString(exchange.target));
      refuseCrossSite(exchange);
      const body = await jsonBody(exchange, ['path'], limits);
      const path = body?.get('path');
      if (path === undefined || path === null) {
        throw new AppError('missing_parameter', 'path is not given', {
          hint: 'send {"path":"/exp?handle=<handle>&fmt=csv"}',
        });
      }
      if (typeof path !== 'string') throw wrongType('path', path, 'a string');
      const request = requestOf(path, paths);
      exchange.concerns(path.split('?', 1)[0] ?? '');
      const { ticket, expiresAt } = tickets.issue(exchange.caller, exchange.principal, request);
      exchange.forbidStoring();
      sendJson(exchange, { ticket, expires: isoTime(expiresAt) });
    },
  };
}

function requestOf(path: string, paths: readonly string[]): string {
  if (path.length > longestPath) {
    throw new AppError('invalid_parameter', `path has more than ${longestPath} characters`, {
      hint: 'no request can be that long',
    });
  }
  if (!paths.some((each) => path.startsWith(`${each}?`)) || splitTicket(path).ticket !== undefined) {
    throw new AppError('invalid_parameter', `path ${JSON.stringify(path.slice(0, 100))} is not valid`, {
      hint: `it is ${paths.join(' or ')} with a query string, without a ticket`,
    });
  }
  return boundRequest('GET', path);
}

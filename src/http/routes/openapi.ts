import { jsonContentType } from '../exchange/error-response.ts';
import { readParameters } from '../exchange/parameters.ts';
import { parseQueryString } from '../exchange/query-string.ts';
import type { Route } from '../exchange/route.ts';
import { openApiDocument } from '../openapi/openapi.ts';

/** Serves the description of all routes, itself included. */
export function openApiRoute(others: readonly Route[], about: { readonly version: string }): Route {
  let body = Buffer.alloc(0);
  const route: Route = {
    path: '/openapi.json',
    methods: ['GET', 'HEAD'],
    operations: {
      GET: {
        access: 'seeServer',
        summary: 'This document',
        parameters: {},
        responses: {
          200: { description: 'OpenAPI 3.1.', content: { 'application/json': { type: 'object' } } },
        },
        errors: ['invalid_parameter'],
      },
    },
    handle(exchange) {
      readParameters({}, parseQueryString(exchange.target));
      exchange.headers.push('content-type', jsonContentType, ...exchange.cacheControl('no-cache'));
      exchange.headers.push('content-length', String(body.length));
      exchange.send(200, body);
    },
  };
  body = Buffer.from(JSON.stringify(openApiDocument([...others, route], about)));
  return route;
}

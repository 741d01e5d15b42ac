import type { Operation } from '../../exchange/operation.ts';
import type { ParameterTable } from '../../exchange/parameters.ts';
import { parseQueryString } from '../../exchange/query-string.ts';
import type { Route } from '../../exchange/route.ts';
import { frameErrors, sqlErrors, storageErrors } from '../../openapi/error-groups.ts';
import { frameFileParameters, frameFileSegments, parseFrameFile } from './command.ts';
import { exportResponses, type SendFrameOptions, sendFrame } from './route.ts';

const { owner, ...segments } = frameFileSegments;

/** Frames under names that end in their format, for programs that need that. */
export function frameFileRoute(options: SendFrameOptions): Route {
  return routeAt('/frames/{handle}.{format}', segments, options);
}

/** The same of frames that other tenants share. */
export function sharedFrameFileRoute(options: SendFrameOptions): Route {
  return routeAt('/frames/{owner}/{handle}.{format}', { owner, ...segments }, options);
}

function routeAt(path: string, places: ParameterTable, options: SendFrameOptions): Route {
  return {
    path,
    methods: ['GET', 'HEAD'],
    operations: { GET: { ...operation, segments: places } },
    async handle(exchange) {
      const command = parseFrameFile(exchange.segments, parseQueryString(exchange.target));
      await sendFrame(command, exchange, options);
    },
  };
}

const operation: Operation = {
  access: 'readFrames',
  summary: 'A frame or view as a file',
  description:
    'The same as /exp with `handle` and `fmt`, under a name whose ending tells the format, as programs want that read files by their URL.',
  parameters: frameFileParameters,
  responses: exportResponses,
  errors: [
    'unauthenticated',
    'invalid_parameter',
    'unsupported_format',
    'invalid_limit',
    'unsupported_type',
    'overloaded',
    ...frameErrors,
    ...sqlErrors,
    ...storageErrors,
  ],
};

import { readParameters } from '../exchange/parameters.ts';
import { parseQueryString } from '../exchange/query-string.ts';
import type { Route } from '../exchange/route.ts';
import { sendJson } from '../json/send-json.ts';

/** The settings in force, for people. */
export interface ShownConfig {
  readonly settings: readonly {
    readonly key: string;
    /** Secrets masked; undefined when unset. */
    readonly shown: string | undefined;
    readonly origin: string;
    /** SIGHUP applies a change. */
    readonly reload: boolean;
    /** A change waits for a restart. */
    readonly needsRestart: boolean;
  }[];
  readonly configFile: string | undefined;
}

/** The settings for operators, like `framehold config`. */
export function configRoute(shown: () => ShownConfig): Route {
  const document = () => {
    const { settings, configFile } = shown();
    return {
      config_file: configFile ?? null,
      settings: settings.map(({ key, shown: value, origin, reload, needsRestart }) => ({
        ...{ key, value: value ?? null, origin, reload },
        needs_restart: needsRestart,
      })),
    };
  };
  return {
    path: '/config',
    methods: ['GET', 'HEAD'],
    operations: {
      GET: {
        access: 'seeSettings',
        summary: 'The settings in force',
        description: 'As `framehold config` prints them: secrets are masked.',
        parameters: {},
        responses: {
          200: {
            description: 'In the order of the reference.',
            content: { 'application/json': configSchema },
          },
        },
        errors: ['invalid_parameter'],
      },
    },
    handle(exchange) {
      readParameters({}, parseQueryString(exchange.target));
      sendJson(exchange, document());
    },
  };
}

const configSchema = {
  type: 'object',
  properties: {
    config_file: { type: ['string', 'null'] },
    settings: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          key: { type: 'string', description: 'As in the TOML file: `http.max_body`.' },
          value: { type: ['string', 'null'], description: 'null: it is not set.' },
          origin: {
            type: 'string',
            description:
              'Where the value came from: a flag, a variable of the environment, a line of a file, or `default`.',
          },
          reload: { type: 'boolean', description: 'Whether SIGHUP applies a change.' },
          needs_restart: {
            type: 'boolean',
            description: 'At the last SIGHUP another value was found, which waits for a restart.',
          },
        },
        required: ['key', 'value', 'origin', 'reload', 'needs_restart'],
      },
    },
  },
  required: ['config_file', 'settings'],
} as const;

import type { IssuerLogin } from '../../auth/issuer.ts';
import type { Principal } from '../../core/callers/principal.ts';
import { mayUseEngine, usableDefault } from '../../core/names/engine-names.ts';
import type { EngineDirectory } from '../../query/engine-directory.ts';
import { readParameters } from '../exchange/parameters.ts';
import { parseQueryString } from '../exchange/query-string.ts';
import type { Route } from '../exchange/route.ts';
import { sendJson } from '../json/send-json.ts';

export interface ServerInfo {
  readonly version: string;
  /** Address of the gRPC listener. */
  readonly grpc: { readonly host: string; readonly port: number; readonly tls: boolean };
  readonly engines: Pick<EngineDirectory, 'namesFor'>;
  readonly defaultEngine: string;
  readonly autoEngine: string | undefined;
  /** Undefined: any number. */
  readonly maxLimit: number | undefined;
  /** Kinds of credentials that are accepted. */
  readonly credentials: () => readonly string[];
  /** The logins by browser; empty while they are unknown. */
  readonly logins: () => readonly IssuerLogin[];
}

const infoSchema = {
  type: 'object',
  properties: {
    name: { type: 'string', const: 'framehold' },
    version: { type: 'string' },
    grpc: {
      type: 'object',
      properties: {
        host: { type: 'string' },
        port: { type: 'integer' },
        tls: { type: 'boolean', description: 'Whether it speaks TLS: `grpc+tls://`.' },
      },
      required: ['host', 'port', 'tls'],
    },
    engines: {
      type: 'array',
      items: { type: 'string' },
      description: 'What `engine` may name; GET /engines tells more.',
    },
    default_engine: { type: 'string', description: 'Where `query` of /exec goes without `engine`.' },
    credentials: {
      type: 'array',
      items: { type: 'string' },
      description: 'What callers must show, where they must. The rest is told to those who do.',
    },
    login: {
      type: 'array',
      description:
        'Issuers where people log in by a browser, by the authorization code flow with PKCE. For callers without credentials.',
      items: {
        type: 'object',
        properties: {
          issuer: { type: 'string', description: 'Its name in the settings.' },
          client_id: { type: 'string' },
          scope: { type: 'string' },
          authorization_endpoint: { type: 'string' },
          token_endpoint: { type: 'string' },
        },
        required: ['issuer', 'client_id', 'scope', 'authorization_endpoint', 'token_endpoint'],
      },
    },
    auto_engine: { type: 'string', description: 'Where `engine=auto` sends what reads much.' },
    max_limit: {
      type: 'integer',
      description: 'Most rows that one request to /exec or /sql may ask for. Missing: any number.',
    },
  },
  required: ['name', 'grpc'],
} as const;

/** Name, version and abilities of the server, for clients. */
export function infoRoute(info: ServerInfo): Route {
  const { version, grpc, engines, defaultEngine, autoEngine, maxLimit, credentials, logins } = info;
  const open = { name: 'framehold', grpc };
  const limit = maxLimit === undefined ? {} : { max_limit: maxLimit };
  const document = (principal: Principal): object => ({
    name: open.name,
    version,
    grpc: open.grpc,
    engines: engines.namesFor(principal),
    default_engine: usableDefault(principal, defaultEngine),
    ...(autoEngine !== undefined && mayUseEngine(principal, autoEngine) && { auto_engine: autoEngine }),
    ...limit,
  });
  return {
    path: '/info',
    methods: ['GET', 'HEAD'],
    operations: {
      GET: {
        access: 'known',
        summary: 'What this server is, and where its gRPC listener is',
        parameters: {},
        responses: {
          200: {
            description: 'A host of 0.0.0.0 or :: means every address of this machine: use the one that you asked.',
            content: {
              'application/json': infoSchema,
            },
          },
        },
        errors: ['invalid_parameter'],
      },
    },
    handle(exchange) {
      readParameters({}, parseQueryString(exchange.target));
      if (exchange.isKnown) return sendJson(exchange, document(exchange.principal));
      const login = logins().map(loginDocument);
      sendJson(exchange, { ...open, ...limit, credentials: credentials(), ...(login.length > 0 && { login }) });
    },
  };
}

function loginDocument({ name, clientId, scope, authorizationEndpoint, tokenEndpoint }: IssuerLogin): object {
  return {
    issuer: name,
    client_id: clientId,
    scope,
    authorization_endpoint: authorizationEndpoint,
    token_endpoint: tokenEndpoint,
  };
}

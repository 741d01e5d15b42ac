import { hash } from 'node:crypto';
import { AppError } from '../../../core/errors/app-error.ts';
import { chooseCoding } from '../../exchange/content-coding.ts';
import { matchesEntityTag, sendNotModified } from '../../exchange/entity-tag.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { nothingAt } from '../../exchange/nothing-at.ts';
import { type Parameter, readParameters } from '../../exchange/parameters.ts';
import { parseQueryString } from '../../exchange/query-string.ts';
import type { Route } from '../../exchange/route.ts';
import { type Asset, readAssets } from './assets.ts';

/** Only resources of this server, no markup made from text, and no page around it. */
const policy = (connected: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    ["connect-src 'self'", ...connected].join(' '),
    "font-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');

const pageHeaders = [
  ...['referrer-policy', 'no-referrer'],
  ...['cross-origin-opener-policy', 'same-origin'],
  ...['cross-origin-resource-policy', 'same-origin'],
] as const;

const fileName: Parameter<string | undefined> = {
  description: 'As the page names it. Another content has another name.',
  schema: { type: 'string' },
  parse: (value) => value,
};

/** The web console: its page at `/`, for browsers, and the files that it loads. */
export function consoleRoutes(
  folder: string,
  answered: readonly string[],
  /** Further origins for requests of the page: the login services. */
  connected: () => readonly string[],
): readonly Route[] {
  let reading: Promise<ReadonlyMap<string, Asset>> | undefined;
  const assetOf = async (name: string): Promise<Asset | undefined> => {
    reading ??= readAssets(folder);
    return (await reading).get(name);
  };
  const page: Route = {
    path: '/',
    isOfConsole: true,
    methods: ['GET', 'HEAD'],
    operations: {
      GET: {
        access: 'open',
        summary: 'The console, for browsers',
        description: 'Only for those that accept `text/html`; others are told what this server answers.',
        parameters: {},
        responses: { 200: { description: 'A page.', content: { 'text/html': { type: 'string' } } } },
        errors: ['not_found'],
      },
    },
    async handle(exchange) {
      const wantsPage = exchange.requestHeaders.accept?.includes('text/html') === true;
      const asset = wantsPage ? await assetOf('index.html') : undefined;
      if (asset === undefined) throw nothingAt('/', answered);
      const origins = [...new Set(connected())];
      exchange.headers.push('content-security-policy', policy(origins), ...pageHeaders, 'vary', 'accept');
      // A page in the browser's cache keeps the policy that it came with.
      const id = origins.length === 0 ? asset.id : hash('sha256', [asset.id, ...origins].join(' ')).slice(0, 16);
      if (matchesEntityTag(exchange.requestHeaders['if-none-match'], `"${id}"`))
        return sendNotModified(exchange, `"${id}"`);
      exchange.headers.push('etag', `"${id}"`, ...exchange.cacheControl('no-cache'));
      sendAsset(exchange, asset);
    },
  };
  const file: Route = {
    path: '/console/{file}',
    isOfConsole: true,
    methods: ['GET', 'HEAD'],
    operations: {
      GET: {
        access: 'open',
        summary: 'A file of the console',
        parameters: {},
        segments: { file: fileName },
        responses: { 200: { description: 'It never changes.', content: { 'text/javascript': { type: 'string' } } } },
        errors: ['invalid_parameter', 'not_found'],
      },
    },
    async handle(exchange) {
      readParameters({}, parseQueryString(exchange.target));
      const name = exchange.segments[0] ?? '';
      const asset = name === 'index.html' ? undefined : await assetOf(name);
      if (asset === undefined)
        throw new AppError('not_found', 'the console has no such file', { hint: 'load the page again' });
      exchange.declareImmutable();
      exchange.headers.push('cross-origin-resource-policy', 'same-origin');
      sendAsset(exchange, asset);
    },
  };
  return [page, file];
}

function sendAsset(exchange: Exchange, { contentType, bytes, coded }: Asset): void {
  const coding = chooseCoding(exchange.requestHeaders['accept-encoding']);
  const packed = coding === undefined ? undefined : coded[coding];
  exchange.headers.push('content-type', contentType, 'vary', 'accept-encoding');
  if (coding !== undefined && packed !== undefined) exchange.headers.push('content-encoding', coding);
  const body = packed ?? bytes;
  exchange.headers.push('content-length', String(body.length));
  exchange.send(200, body);
}

import { AppError } from '../../core/app-error.ts';

/** Where a Spark Connect server is, and as whom to speak to it. */
export interface ConnectAddress {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  readonly token: string | undefined;
  readonly userId: string;
  readonly userAgent: string | undefined;
  /** Further headers of every call. */
  readonly headers: Readonly<Record<string, string>>;
}

const defaultPort = 15002;
const defaultUserId = 'framehold';
const example = 'write sc://host:15002/;token=…;use_ssl=true';

/** Reads PySpark's own form: `sc://host:15002/;token=…;use_ssl=true;user_id=…;x-header=…`. */
export function parseConnectUrl(text: string): ConnectAddress {
  const match = /^sc:\/\/([^/;?#]*)(\/?)(.*)$/s.exec(text);
  if (match === null) throw invalid('does not begin with sc://');
  const [, authority = '', , rest = ''] = match;
  if (rest !== '' && !rest.startsWith(';')) throw invalid('has a path; options stand behind "/;"');
  const { host, port } = parseAuthority(authority);
  const options = parseOptions(rest);
  const take = (name: string): string | undefined => {
    const value = options.get(name);
    options.delete(name);
    return value;
  };
  if (take('session_id') !== undefined) {
    throw invalid('names a session_id, but every query has a session of its own');
  }
  const token = asHeader('token', take('token'));
  if (token === '') throw invalid('has an empty token');
  const useTls = flag(take('use_ssl'));
  return {
    host,
    port,
    // As PySpark has it: a token goes in clear text only to this machine, or where one says so.
    isTls: useTls ?? (token !== undefined && !isLoopback(host)),
    token,
    userId: take('user_id') ?? defaultUserId,
    userAgent: asHeader('user_agent', take('user_agent')),
    headers: headersOf(options),
  };
}

/** The same URL with the token and other headers hidden, fit for a log. */
export function maskConnectUrl(text: string): string {
  return text
    .replace(/\/\/[^/;@]*@/, '//***@')
    .replaceAll(/;([^=;]*)=([^;]*)/g, (whole, name: string) => (shownOptions.has(name) ? whole : `;${name}=***`));
}

const shownOptions: ReadonlySet<string> = new Set(['use_ssl', 'user_id', 'user_agent', 'session_id']);

function parseAuthority(authority: string): { host: string; port: number } {
  if (authority.includes('@')) throw invalid('has a user before the host; a token is an option: /;token=…');
  const match = /^(\[[0-9A-Fa-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(authority);
  const port = Number(match?.[2] ?? defaultPort);
  if (match?.[1] === undefined || port < 1 || port > 65_535) throw invalid('has no valid host and port');
  return { host: match[1].replaceAll(/^\[|\]$/g, ''), port };
}

function parseOptions(text: string): Map<string, string> {
  const options = new Map<string, string>();
  for (const part of text.split(';')) {
    if (part === '') continue;
    const at = part.indexOf('=');
    if (at <= 0) throw invalid('has an option without a value; write name=value');
    const name = part.slice(0, at);
    if (options.has(name)) throw invalid(`has the option ${name} twice`);
    try {
      options.set(name, decodeURIComponent(part.slice(at + 1)));
    } catch {
      throw invalid(`has an option ${name} that is not percent-encoded rightly`);
    }
  }
  return options;
}

function headersOf(options: ReadonlyMap<string, string>): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of options) {
    if (!/^x-[a-z0-9._-]+$/i.test(name)) {
      throw invalid(`has the option ${name}, which is not known (token, use_ssl, user_id, user_agent, x-…)`);
    }
    headers[name.toLowerCase()] = asHeader(name, value);
  }
  return headers;
}

/** Refuses what a header cannot hold. */
function asHeader<T extends string | undefined>(name: string, value: T): T {
  if (/[^\x20-\x7e]/.test(value ?? '')) throw invalid(`has the option ${name} with other than printable ASCII`);
  return value;
}

function flag(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  const lower = text.toLowerCase();
  if (lower !== 'true' && lower !== 'false') throw invalid('has a use_ssl that is neither true nor false');
  return lower === 'true';
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

function invalid(what: string): AppError {
  return new AppError('invalid_parameter', `the URL of a Spark Connect engine ${what}`, { hint: example });
}

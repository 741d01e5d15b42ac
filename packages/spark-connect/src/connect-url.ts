import { CodedError } from '@framehold/columns';

/** Address of a Spark Connect server, and the user for it. */
export interface ConnectAddress {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  readonly token: string | undefined;
  /** Undefined where the URL names none. */
  readonly userId: string | undefined;
  readonly userAgent: string | undefined;
  /** Further headers of every call. */
  readonly headers: Readonly<Record<string, string>>;
}

const defaultPort = 15002;
const example = 'write sc://host:15002/;token=…;use_ssl=true';
/** Options whose values are no secret. */
const shownOptions: ReadonlySet<string> = new Set(['use_ssl', 'user_id', 'user_agent', 'session_id']);

/** Reads PySpark's own form: `sc://host:15002/;token=…;use_ssl=true;user_id=…;x-header=…`. Throws `invalid_parameter`. */
export function parseConnectUrl(text: string): ConnectAddress {
  const match = /^sc:\/\/([^/;?#]*)(\/?)(.*)$/s.exec(text);
  if (match === null) throw invalid('does not begin with sc://');
  const [, authority = '', , rest = ''] = match;
  if (rest !== '' && !rest.startsWith(';')) throw invalid('has a path; options stand behind "/;"');
  const { host, port } = parseAuthority(authority);
  const options = parseOptions(rest);
  if (options.has('session_id')) throw invalid('names a session_id, but every query has a session of its own');
  const token = options.get('token');
  if (token === '') throw invalid('has an empty token');
  const useTls = flag(options.get('use_ssl'));
  return {
    host,
    port,
    // As in PySpark: a token goes in clear text only to this machine, or by explicit choice.
    isTls: useTls ?? (token !== undefined && !isLoopback(host)),
    token,
    userId: options.get('user_id'),
    userAgent: options.get('user_agent'),
    headers: Object.fromEntries(
      [...options].filter(([name]) => isHeader(name)).map(([name, value]) => [name.toLowerCase(), value]),
    ),
  };
}

/**
 * The same text with its secrets hidden, fit for a log; also works on malformed URLs. A token may hold a ; that is not
 * percent-encoded, so everything behind a secret is hidden unless it is certainly an option.
 */
export function maskConnectUrl(text: string): string {
  const shown = text.replace(/^([^/@]*:\/\/)?.*@/s, (_, scheme: string | undefined) => `${scheme ?? ''}***@`);
  const start = /;|[^;/?&=]+=/.exec(shown)?.index ?? shown.length;
  let isBehindSecret = false;
  const parts = shown
    .slice(start)
    .split(';')
    .map((part) => {
      if (part === '') return part;
      const name = part.split('=', 1)[0] ?? '';
      if (part !== name && shownOptions.has(name.trim().toLowerCase())) return part;
      const isNamed = part !== name && (!isBehindSecret || name === 'token' || isHeader(name));
      isBehindSecret = true;
      return isNamed ? `${name}=***` : '***';
    });
  return shown.slice(0, start) + parts.join(';');
}

function parseAuthority(authority: string): { host: string; port: number } {
  if (authority.includes('@')) throw invalid('has a user before the host; a token is an option: /;token=…');
  const match = /^(\[[0-9A-Fa-f:.]+\]|[^\s:[\]]+)(?::(\d{1,5}))?$/.exec(authority);
  const port = Number(match?.[2] ?? defaultPort);
  if (match?.[1] === undefined || port < 1 || port > 65_535) throw invalid('has no valid host and port');
  return { host: match[1].replaceAll(/^\[|\]$/g, ''), port };
}

/** No message shows text that may be the rest of a secret before it. */
function parseOptions(text: string): Map<string, string> {
  const options = new Map<string, string>();
  for (const part of text.split(';')) {
    if (part === '') continue;
    const at = part.indexOf('=');
    const name = part.slice(0, Math.max(0, at));
    const isBehindSecret = [...options.keys()].some((each) => !shownOptions.has(each));
    if (at > 0 && name !== 'token' && !isHeader(name) && !shownOptions.has(name)) {
      const which = isBehindSecret ? 'an option' : `the option ${name.slice(0, 100)}`;
      throw invalid(
        `has ${which} that is not known (token, use_ssl, user_id, user_agent and x-… are; ; is %3B in a value)`,
      );
    }
    if (at <= 0) throw invalid('has an option without a value; write name=value, and %3B for a ; in a value');
    if (options.has(name)) throw invalid(`has the option ${name} twice`);
    options.set(name, decoded(name, part.slice(at + 1)));
  }
  return options;
}

function decoded(name: string, text: string): string {
  let value: string;
  try {
    value = decodeURIComponent(text);
  } catch {
    throw invalid(`has an option ${name} that is not percent-encoded rightly`);
  }
  if (!/^[\x20-\x7e]*$/.test(value) && name !== 'user_id') {
    throw invalid(`has an option ${name} with other than printable ASCII`);
  }
  return value;
}

function isHeader(name: string): boolean {
  return /^x-[a-z0-9._-]+$/i.test(name);
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

function invalid(what: string): CodedError {
  return new CodedError('invalid_parameter', `the URL of a Spark Connect engine ${what}`, { hint: example });
}

import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Random } from '../harness/random.ts';
import type { MarkedRequest } from './marked-upstream.ts';

/** What the client must be told of a lie. */
export type Promised =
  /** The status, content type and body of the upstream, and all of it. */
  | {
      readonly kind: 'passed';
      readonly status: number;
      readonly contentType: string | undefined;
      readonly body: string;
    }
  /** 502, and no invitation to send the statement again: it may have been executed. */
  | { readonly kind: 'unreachable' }
  /** 504 in time. */
  | { readonly kind: 'late' }
  /** The connection breaks before the end, at once or after the silence that is allowed. */
  | { readonly kind: 'cut'; readonly afterSilence?: boolean };

export interface Lie {
  readonly name: string;
  readonly promised: Promised;
  tell(request: MarkedRequest): Promise<unknown>;
}

export interface LieContext {
  readonly marker: number;
  readonly random: Random;
  /** A URL that nobody may ask for. */
  readonly canaryUrl: string;
  readonly timeoutMs: number;
}

type Liar = (context: LieContext) => Lie;

const json = 'application/json; charset=utf-8';
/** Told apart by its marker, so that an answer that went to another client shows. */
const bodyOf = ({ marker, random }: LieContext): string =>
  `{"marker":${marker},"fill":"${'f'.repeat(random.pick([0, 10, 1000, 70_000, 300_000]))}"}`;

const head = (status: number | string, ...headers: string[]): string =>
  `HTTP/1.1 ${status} Whatever\r\n${headers.map((line) => `${line}\r\n`).join('')}\r\n`;
const typed = (status: number | string, ...headers: string[]): string =>
  head(status, `Content-Type: ${json}`, ...headers);
const chunk = (body: string): string => `${body.length.toString(16)}\r\n${body}\r\n`;
const lastChunk = '0\r\n\r\n';

function passed(body: string, { status = 200, contentType = json as string | undefined } = {}): Promised {
  return { kind: 'passed', status, contentType, body };
}

/** Answers with these bytes, which mean what `promised` says. */
function says(name: string, promised: Promised, bytes: string, then: 'stay' | 'end' | 'reset' = 'stay'): Lie {
  return {
    name,
    promised,
    async tell({ send, socket }) {
      await send(Buffer.from(bytes, 'latin1'));
      if (then === 'end') socket.end();
      if (then === 'reset') socket.resetAndDestroy();
    },
  };
}

const unreachable: Promised = { kind: 'unreachable' };
const cut: Promised = { kind: 'cut' };

/** Answers that are in order, however odd: they pass. */
const honest: readonly Liar[] = [
  (context) => {
    const body = bodyOf(context);
    const status = context.random.pick([200, 200, 200, 205, 400, 403, 404, 429, 500, 502, 503, 599, 999]);
    return says(`status ${status}`, passed(body, { status }), typed(status, `Content-Length: ${body.length}`) + body);
  },
  (context) => {
    const body = bodyOf(context);
    const pieces = body.match(new RegExp(`[^]{1,${context.random.between(1000, 90_000)}}`, 'g')) ?? [];
    const end = context.random.pick(['stay', 'end'] as const);
    const close = end === 'end' ? ['Connection: close'] : [];
    const bytes = typed(200, 'Transfer-Encoding: chunked', ...close) + pieces.map(chunk).join('') + lastChunk;
    return says('chunked', passed(body), bytes, end);
  },
  (context) => {
    const body = bodyOf(context);
    return says('no length and an end', passed(body), typed(200) + body, 'end');
  },
  (context) => {
    const body = bodyOf(context);
    const version = context.random.pick(['1.0', '1.1']);
    const length = `Content-Length: ${body.length}`;
    const bytes = `HTTP/${version} 200 OK\r\nContent-Type: ${json}\r\nConnection: close\r\n${length}\r\n\r\n${body}`;
    return says('a length and an end', passed(body), bytes, 'end');
  },
  (context) => {
    const body = bodyOf(context);
    const hints = 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'.repeat(context.random.between(1, 200));
    return says('a storm of 103', passed(body), hints + typed(200, `Content-Length: ${body.length}`) + body);
  },
  (context) => {
    const body = bodyOf(context);
    const bytes = typed(
      200,
      `Content-Length: ${body.length}`,
      'Set-Cookie: session=stolen',
      'Server: questDB/1.0',
      'Connection: keep-alive, X-Secret',
      'X-Secret: hop',
      'Keep-Alive: timeout=5, max=10000',
      'Proxy-Authenticate: Basic',
      'Trailer: X-After',
      'Access-Control-Allow-Origin: *',
      'Location: http://elsewhere/',
      'ETag: "theirs"',
      'X-Request-Id: theirs',
      '__proto__: polluted',
      'constructor: polluted',
    );
    return says('headers that are not for clients', passed(body), bytes + body);
  },
  (context) => {
    const body = `<script>alert(${context.marker})</script>`;
    const contentType = context.random.pick(['text/html', 'image/svg+xml', 'application/xhtml+xml', 'text/javascript']);
    const bytes = head(200, `Content-Type: ${contentType}`, `Content-Length: ${body.length}`) + body;
    return says('a page with a script', passed(body, { contentType }), bytes);
  },
  (context) => {
    const body = bodyOf(context);
    const begun = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/csv\r\n';
    const bytes = begun + typed(400, 'Transfer-Encoding: chunked') + chunk(body) + lastChunk;
    return says('an error in place of a 200 that was begun', passed(body), bytes);
  },
  ({ marker }) => says('no content', passed('', { status: 204 }), typed(204, `X-Marker: ${marker}`)),
  (context) => {
    const body = bodyOf(context).slice(0, 1200);
    const bytes = Buffer.from(typed(200, `Content-Length: ${body.length}`) + body);
    const size = context.random.between(3, 40);
    return {
      name: 'a few bytes at a time',
      promised: passed(body),
      async tell({ send }) {
        for (let at = 0; at < bytes.length; at += size) {
          await send(bytes.subarray(at, at + size));
          await delay(1);
        }
      },
    };
  },
  (context) => {
    const body = gzipSync(bodyOf(context)).toString('latin1');
    const bytes = typed(200, 'Content-Encoding: gzip', `Content-Length: ${body.length}`) + body;
    return says('gzip that nobody asked for', passed(body), bytes);
  },
  (context) => {
    const body = bodyOf(context);
    const bytes = typed(200, 'Transfer-Encoding: chunked') + chunk(body);
    return says('trailers', passed(body), `${bytes}0\r\nX-After: 1\r\nSet-Cookie: late=1\r\n\r\n`);
  },
];

/** Extra bytes behind an answer: they pass to nobody. */
const poisonous: readonly Liar[] = [
  (context) => {
    const body = bodyOf(context);
    const poison = context.random.pick([
      `${typed(200, 'Content-Length: 13')}{"poison": 1}`,
      typed(200, 'Transfer-Encoding: chunked') + chunk('{"poison": 1}') + lastChunk,
      '{"poison": 1}',
      '\r\n\r\n',
      'HTTP/1.1 103 Early Hints\r\n\r\n',
    ]);
    return says('more than one answer', passed(body), typed(200, `Content-Length: ${body.length}`) + body + poison);
  },
  (context) => {
    const body = bodyOf(context);
    const bytes = typed(200, 'Transfer-Encoding: chunked') + chunk(body) + lastChunk;
    return says('bytes behind the last chunk', passed(body), `${bytes}${chunk('poison')}${lastChunk}`);
  },
];

/** Heads from which nothing can be made. */
const senseless: readonly Liar[] = [
  ...(
    [
      ['a length twice', typed(200, 'Content-Length: 2', 'Content-Length: 4')],
      ['the same length twice', typed(200, 'Content-Length: 2', 'Content-Length: 2')],
      ['a negative length', typed(200, 'Content-Length: -2')],
      ['a length that is no number', typed(200, 'Content-Length: 0x2')],
      ['a length beyond all numbers', typed(200, 'Content-Length: 99999999999999999999999')],
      ['a length and chunks', typed(200, 'Content-Length: 2', 'Transfer-Encoding: chunked')],
      ['chunks and a length', typed(200, 'Transfer-Encoding: chunked', 'Content-Length: 2')],
      ['a coding of its own', typed(200, 'Transfer-Encoding: gzip, chunked')],
      ['a coding that nobody knows', typed(200, 'Transfer-Encoding: xchunked')],
      ['a status below 100', typed('099', 'Content-Length: 2')],
      ['a status of two digits', typed('20', 'Content-Length: 2')],
      ['a status of four digits', typed('2000', 'Content-Length: 2')],
      ['100 Continue, over and over', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(300)],
      ['another protocol', head(101, 'Upgrade: websocket', 'Connection: Upgrade')],
      ['another protocol without a name', head(101)],
      ['a folded header', typed(200, 'X-Folded: one\r\n two', 'Content-Length: 2')],
      ['a space before the colon', typed(200, 'Content-Length : 2')],
      ['a bare line feed', 'HTTP/1.1 200 OK\nContent-Length: 2\n\n'],
      ['a zero byte in a header', typed(200, 'X-Zero: a\0b', 'Content-Length: 2')],
      ['a carriage return in a header', typed(200, 'Content-Type: a\rSet-Cookie: b', 'Content-Length: 2')],
      ['HTTP/0.9', '<html>hello</html>\r\n'],
      ['another service', 'SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n'],
      ['TLS', '\x15\x03\x01\x00\x02\x02\x28'],
      ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\x12\x04\0\0\0\0\0'],
    ] as const
  ).map(
    ([name, bytes]): Liar =>
      () =>
        says(name, unreachable, `${bytes}{}`),
  ),
  ({ random }) =>
    says('garbage', unreachable, `\x01${random.bytes(random.between(1, 5000)).toString('latin1')}`, 'end'),
  ({ random }) =>
    says('a header of a megabyte', unreachable, typed(200, `X-Long: ${'x'.repeat(random.between(20_000, 1_000_000))}`)),
  ({ random }) =>
    says('thousands of headers', unreachable, typed(200, ...Array(random.between(3000, 9000)).fill('X-Many: y'))),
  ({ random, canaryUrl }) => {
    const status = random.pick([300, 301, 302, 303, 304, 307, 308]);
    const bytes = typed(
      status,
      `Location: ${canaryUrl}/${status}`,
      `Refresh: 0; url=${canaryUrl}`,
      'Content-Length: 2',
    );
    return says(`a redirect (${status})`, unreachable, `${bytes}{}`);
  },
  () =>
    says(
      'a refusal of our credentials',
      unreachable,
      typed(401, 'WWW-Authenticate: Basic realm="theirs"', 'Content-Length: 2'),
    ),
  ({ random }) => says('an end instead of an answer', unreachable, '', random.pick(['end', 'reset'] as const)),
  ({ random }) => {
    const bytes = typed(200, 'Content-Length: 2');
    const part = bytes.slice(0, random.between(1, bytes.length - 1));
    return says('an end within the head', unreachable, part, random.pick(['end', 'reset'] as const));
  },
];

/** Answers that begin and never come to their end. */
const broken: readonly Liar[] = [
  (context) => {
    const body = bodyOf(context);
    const isChunked = context.random.chance(0.5);
    const length = `Content-Length: ${body.length + context.random.between(1, 1000)}`;
    const close = context.random.chance(0.5) ? ['Connection: close'] : [];
    const bytes = isChunked
      ? typed(200, 'Transfer-Encoding: chunked', ...close) + chunk(body)
      : typed(200, length, ...close) + body;
    return says('an end before the end', cut, bytes, context.random.pick(['end', 'reset'] as const));
  },
  (context) => says('a reset of an answer without a length', cut, typed(200) + bodyOf(context), 'reset'),
  (context) => {
    const size = context.random.pick(['zz', '-5', 'fffffffffffffffffff', '5 5', '', '0x5', '5\n']);
    const bytes = typed(200, 'Transfer-Encoding: chunked') + chunk(bodyOf(context));
    return says('a chunk of a senseless size', cut, `${bytes}${size}\r\nhello\r\n${lastChunk}`);
  },
  (context) => {
    const bytes = typed(200, 'Transfer-Encoding: chunked') + chunk(bodyOf(context));
    return says('a chunk longer than it says', cut, `${bytes}3\r\nhello\r\n${lastChunk}`);
  },
];

/** Those that take their time. */
const slow: readonly Liar[] = [
  () => ({ name: 'silence', promised: { kind: 'late' }, tell: async () => {} }),
  () => says('103 and then silence', { kind: 'late' }, 'HTTP/1.1 103 Early Hints\r\n\r\n'),
  ({ timeoutMs }) => ({
    name: 'a head that comes too slowly',
    promised: { kind: 'late' },
    async tell({ send, socket }) {
      const bytes = typed(200, 'Content-Length: 2');
      for (const byte of bytes.repeat(100)) {
        if (socket.destroyed) return;
        await send(byte);
        await delay(timeoutMs / 50);
      }
    },
  }),
];

/** Takes as long as the server waits in the middle of an answer, which cannot be set. */
const silentInTheMiddle: Liar = (context) => {
  const body = bodyOf(context);
  const bytes = typed(200, `Content-Length: ${body.length + 10}`) + body;
  return says('silence in the middle', { kind: 'cut', afterSilence: true }, bytes);
};

export function drawLie(context: LieContext): Lie {
  const { random } = context;
  const draw = random.next();
  const kind = draw < 0.3 ? honest : draw < 0.4 ? poisonous : draw < 0.75 ? senseless : draw < 0.95 ? broken : slow;
  return random.chance(0.01) ? silentInTheMiddle(context) : random.pick(kind)(context);
}

import type { Random } from '../harness/random.ts';

/** Requests that are nearly right: each part is drawn from what is right, what is odd, and what is wrong. */
export function nearlyRight(random: Random): Buffer {
  const count = random.chance(0.25) ? random.between(2, 4) : 1;
  const requests = Array.from({ length: count }, () => (random.chance(0.03) ? otherProtocol(random) : request(random)));
  return Buffer.concat(requests.map((text) => Buffer.from(text, 'latin1')));
}

const methods = ['GET', 'POST', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'];
const oddMethods = [
  'PATCH',
  'TRACE',
  'CONNECT',
  'PRI',
  'SOURCE',
  'M-SEARCH',
  'QUERY',
  'get',
  'GeT',
  'GET\t',
  '',
  ' GET',
  'G ET',
  'X'.repeat(300),
  'G\0T',
];
const paths = [
  '/ping',
  '/info',
  '/openapi.json',
  '/exec',
  '/exp',
  '/imp',
  '/sql',
  '/handles',
  '/handles/made',
  '/handles/made/renew',
];
const oddPaths = [
  '/',
  '//',
  '/../ping',
  '/./ping',
  '/ping/',
  '//ping',
  '/PING',
  '/ping%2f',
  '/%70ing',
  '/ping;a=b',
  '/exec#f',
  '/handles/',
  '/handles//renew',
  '/handles/%',
  '/handles/%2e%2e',
  '/handles/..%2f..%2fetc%2fpasswd',
  '/handles/a%00b',
  '/handles/%ff/renew',
  '/handles/__proto__',
  '/constructor',
  '/\\ping',
  '/\u00e9',
  '/%c3%a9',
  '*',
  '',
  'ping',
  'framehold.test:80',
  '?',
  '#',
  '/ping\t',
  'http://',
  'http://framehold.test',
  'http:///ping',
  'HTTPS://a@b:9/ping',
  'http://[::1]:9000/info',
  'ftp://a/ping',
  'http:ping',
];
const queries = [
  '',
  '?',
  '?&',
  '?=',
  '?a',
  '?handle=target&fmt=json',
  '?handle=target&fmt=json&limit=2',
  '?handle=target',
  '?query=select+1&fmt=json',
  '?query=select+1&engine=local&fmt=json',
  '?query=&fmt=json',
  '?name=grammar&overwrite=true',
  '?name=grammar&append=true',
  '?limit=1',
  '?handle=target&handle=target&fmt=json',
  '?handle=%00&fmt=json',
  '?handle=%&fmt=json',
  '?handle=%c0%af&fmt=json',
  '?__proto__=1',
  '?constructor=1&fmt=json',
  '?limit=1e309',
  '?handle=target&fmt=json&limit=%2B1',
  '?ttl=-1',
  '?ttl=1e9d',
  '?schema=%5B%7B',
  '?fmt=JSON',
  `?${'a=b&'.repeat(300)}`,
  `?handle=${'a'.repeat(200)}&fmt=json`,
];
const versions = ['HTTP/1.1'];
const oddVersions = [
  'HTTP/1.0',
  'HTTP/0.9',
  'HTTP/1.2',
  'HTTP/2.0',
  'HTTP/9.9',
  'HTTP/11',
  'http/1.1',
  'HTTP/1.1 ',
  ' HTTP/1.1',
  'HTTP/1.',
  'HTTP',
  'ICE/1.0',
  'RTSP/1.0',
  '',
];
const fields = [
  'Accept: */*',
  'Accept-Encoding: gzip, br',
  'X-Request-Id: r-1',
  'If-None-Match: "1"',
  'If-Match: "1"',
  'Range: bytes=0-3',
  'Content-Type: application/json',
  'Content-Type: text/csv',
  'Content-Type: multipart/form-data; boundary=edge',
  'Connection: keep-alive',
  'Connection: close',
  'Origin: http://framehold.test',
  'User-Agent: a',
  'Cookie: a=b; c=d',
  'Expect: 100-continue',
];
const oddFields = [
  'Host: b',
  'Host:',
  'Host: a, b',
  'Host: a/b@c',
  'Host : a',
  ' Folded: a',
  'X: a\r\n b',
  'X: a\r\n\tb\r\n c',
  'X:',
  ':',
  ': a',
  'X',
  'X Y: a',
  'X\t: a',
  'X: \0',
  'X: \x7f',
  'X: a\rb',
  'X: a\nb',
  'X\u00e9: a',
  'X: \u00e9\xff',
  'X(Y): a',
  `X: ${'a'.repeat(9000)}`,
  `${'X'.repeat(3000)}: a`,
  'Expect: 200-ok',
  'Expect:',
  'Expect: 100-continue, 100-continue',
  'Upgrade: h2c',
  'Upgrade: websocket',
  'Connection: Upgrade',
  'Connection: Upgrade, HTTP2-Settings',
  'Connection: content-length',
  'Connection: transfer-encoding, close',
  'Connection: ,,',
  'TE: trailers',
  'Trailer: Content-Length',
  'Content-Encoding: gzip',
  'Content-Encoding: gzip, br, zstd',
  'Content-Encoding: \x00',
  'Content-Type: multipart/form-data',
  'Content-Type: multipart/form-data; boundary=""',
  `Content-Type: ${';'.repeat(2000)}`,
  'Accept-Encoding: ;q=,,*;q=x',
  'Range: bytes=-',
  'Range: bytes=99999999999999999999-',
  'Range: bytes=0-0,1-1',
  'If-None-Match: ""',
  'If-None-Match: W/',
  'Origin: null',
  'Origin: http://evil.test',
  'Sec-Fetch-Site: cross-site',
  'X-Request-Id: ../../x',
  'X-Request-Id: a\r\nX-Request-Id: b',
  'X-Forwarded-For: 1.2.3.4',
  'Authorization: Basic !!!',
  'Statement-Timeout: -1',
  'Statement-Timeout: 1\tx',
  '__proto__: x',
  'constructor: x',
  'X: a\r\n'.repeat(120).trimEnd(),
];
const lengths = ['0', '3', '5', '11', '999'];
const oddLengths = [
  '-1',
  '+3',
  ' 3',
  '3 ',
  '3,3',
  '3, 4',
  '0x3',
  '3.0',
  '1e1',
  '',
  '03',
  '18446744073709551616',
  '9007199254740993',
  '4294967296',
  '3\r\n 4',
  '３',
  'a',
];
const oddCodings = [
  'chunked, chunked',
  'identity',
  'gzip, chunked',
  'chunked, gzip',
  'Chunked',
  'xchunked',
  'chunked;a=b',
  ' chunked',
  'chunked ',
  '\x0bchunked',
  '"chunked"',
  '',
  ',chunked',
  'chunked\r\nTransfer-Encoding: identity',
  'identity\r\nTransfer-Encoding: chunked',
  'chu\r\n nked',
];
const bodies = [
  'abc',
  'a,b\n1,2\n',
  '{"sql":"select 1"}',
  '{"ttl":"1h"}',
  '{',
  '[]',
  'null',
  '\xff\xfe',
  '--edge\r\n',
  'GET /ping HTTP/1.1\r\nHost: localhost\r\n\r\n',
];
const chunkSizes = ['3', '0003', '3;a=b', '3;a="b;c"', '3 ', '3 ;a', '3;', `3;${'x'.repeat(300)}`];
const oddChunkSizes = [
  '-3',
  '+3',
  '0x3',
  '3\t',
  ' 3',
  'g',
  '',
  '3\n',
  '3;\n',
  'ffffffff',
  '10000000000000000',
  'ffffffffffffffffff',
  '3;a=\x00',
  `3;${'x'.repeat(20_000)}`,
  '3\r',
];
const trailers = [
  '',
  '',
  '',
  'X: a\r\n',
  'Content-Length: 5\r\n',
  'Transfer-Encoding: chunked\r\n',
  'X\r\n',
  ' X: a\r\n',
  `X: ${'a'.repeat(20_000)}\r\n`,
];
const lineEnds = ['\n', '\r', '\r\r\n', '\n\r', '\0\r\n'];

function request(random: Random): string {
  // Mostly one thing is odd; where all are, the first one alone is ever looked at.
  const isOdd = (): boolean => random.chance(0.12);
  const one = (right: readonly string[], odd: readonly string[]): string => random.pick(isOdd() ? odd : right);
  const space = (): string => (random.chance(0.02) ? random.pick(['', '  ', '\t', '\x0b']) : ' ');
  const target = `${one(paths, oddPaths)}${random.chance(0.7) ? random.pick(queries) : ''}`;
  const line = `${one(methods, oddMethods)}${space()}${target}${space()}${one(versions, oddVersions)}`;
  const host = random.chance(0.96) ? ['Host: localhost'] : [];
  const others = Array.from({ length: random.between(0, 4) }, () => one(fields, oddFields));
  const { framing, body } = content(random, isOdd);
  const lines = [line, ...host, ...others, ...framing, '', ''];
  if (!random.chance(0.05)) return lines.join('\r\n') + body;
  return lines.map((each) => `${each}${random.chance(0.2) ? random.pick(lineEnds) : '\r\n'}`).join('') + body;
}

function content(random: Random, isOdd: () => boolean): { framing: string[]; body: string } {
  const body = random.pick(bodies);
  const length = (): string => {
    if (isOdd()) return `Content-Length: ${random.pick(oddLengths)}`;
    return `Content-Length: ${random.chance(0.8) ? body.length : random.pick(lengths)}`;
  };
  const coding = (): string => `Transfer-Encoding: ${isOdd() ? random.pick(oddCodings) : 'chunked'}`;
  const kind = random.next();
  if (kind < 0.4) return { framing: [], body: random.chance(0.05) ? body : '' };
  if (kind < 0.65) return { framing: isOdd() ? [length(), length()] : [length()], body };
  const framing = [coding(), ...(isOdd() ? [length()] : []), ...(isOdd() ? [coding()] : [])];
  return { framing: random.chance(0.5) ? framing : framing.reverse(), body: chunks(random, body, isOdd) };
}

function chunks(random: Random, body: string, isOdd: () => boolean): string {
  const end = (): string => (random.chance(0.03) ? random.pick(lineEnds) : '\r\n');
  const size = isOdd()
    ? random.pick(oddChunkSizes)
    : random.chance(0.3)
      ? random.pick(chunkSizes)
      : body.length.toString(16);
  const last = isOdd()
    ? random.pick(['', '0', '0\r\n', '00\r\n\r\n', '0;a\r\n\r\n', '0\n\n'])
    : `0\r\n${random.pick(trailers)}\r\n`;
  return `${size}${end()}${body}${end()}${last}`;
}

function otherProtocol(random: Random): string {
  return random.pick([
    'GET /ping\r\n\r\n',
    'GET /ping\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0',
    `\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03${random.bytes(60).toString('latin1')}`,
    'SSH-2.0-OpenSSH_9.0\r\n',
    '*1\r\n$4\r\nPING\r\n',
    'HELO framehold.test\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
    'PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\nGET /ping HTTP/1.1\r\nHost: localhost\r\n\r\n',
    '\r\n'.repeat(random.between(1, 50)),
    random.bytes(random.between(1, 400)).toString('latin1'),
    '',
  ]);
}

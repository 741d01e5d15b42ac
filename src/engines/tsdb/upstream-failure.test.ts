import { inspect } from 'node:util';
import { errors } from 'undici';
import { expect, test } from 'vitest';
import { AppError } from '../../core/errors/app-error.ts';
import {
  classifyBrokenBody,
  classifyUpstreamFailure,
  isClosedConnection,
  refusalOfAnswer,
} from './upstream-failure.ts';

const unsent = { written: false };
const sent = { written: true };

const withCode = (code: string): Error => Object.assign(new Error(`some ${code}`), { code });

test.each(['ECONNREFUSED', 'EHOSTUNREACH', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT', 'EMFILE'])(
  'no connection because of %s is tsdb_unreachable and may be tried again in a second',
  (code) => {
    expect(classifyUpstreamFailure(withCode(code), unsent)).toMatchObject({
      code: 'tsdb_unreachable',
      retryAfterSeconds: 1,
    });
  },
);

test('a host none of whose addresses takes the connection is tsdb_unreachable', () => {
  const error = new AggregateError([withCode('ECONNREFUSED'), withCode('ECONNREFUSED')]);
  expect(classifyUpstreamFailure(error, unsent)).toMatchObject({
    code: 'tsdb_unreachable',
    message: 'the external database refused the connection',
  });
});

test.each(['DEPTH_ZERO_SELF_SIGNED_CERT', 'ERR_TLS_CERT_ALTNAME_INVALID', 'ERR_SSL_WRONG_VERSION_NUMBER', 'EPROTO'])(
  'a TLS handshake that fails with %s says so',
  (code) => {
    expect(classifyUpstreamFailure(withCode(code), unsent).message).toBe('no TLS connection to the external database');
  },
);

test.each(['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'UND_ERR_SOCKET', 'EHOSTUNREACH', 'ETIMEDOUT', 'ENOBUFS', 'EPROTO'])(
  'a connection that broke with %s after the statement went out does not invite to send it again',
  (code) => {
    const failure = classifyUpstreamFailure(withCode(code), sent);
    expect(failure).toMatchObject({ code: 'tsdb_unreachable', retryAfterSeconds: undefined });
    expect(failure.hint).toContain('may have been executed');
  },
);

test.each(['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'UND_ERR_SOCKET'])('%s is a closed connection', (code) => {
  expect(isClosedConnection(withCode(code))).toBe(true);
});

test('what undici asserts in vain is no HTTP', () => {
  const failure = classifyUpstreamFailure(withCode('ERR_ASSERTION'), sent);
  expect(failure).toMatchObject({ message: expect.stringContaining('not HTTP'), retryAfterSeconds: undefined });
});

test('an answer that is not HTTP is tsdb_unreachable, and its bytes go nowhere', () => {
  const error = Object.assign(new errors.HTTPParserError('Expected HTTP/'), { data: 'canary' });
  const failure = classifyUpstreamFailure(error, unsent);
  expect(failure).toMatchObject({ code: 'tsdb_unreachable', message: expect.stringContaining('not HTTP') });
  expect(inspect(failure, { depth: 9, showHidden: true })).not.toContain('canary');
});

test.each([new errors.HeadersOverflowError(), new errors.ResponseContentLengthMismatchError()])(
  'headers that break the protocol are tsdb_unreachable: $code',
  (error) => {
    expect(classifyUpstreamFailure(error, unsent).code).toBe('tsdb_unreachable');
  },
);

test('headers that do not come are tsdb_timeout', () => {
  expect(classifyUpstreamFailure(new errors.HeadersTimeoutError(), sent).code).toBe('tsdb_timeout');
});

test('a mistake of ours is internal, and its text is for the log only', () => {
  const failure = classifyUpstreamFailure(new errors.InvalidArgumentError('invalid header'), unsent);
  expect(failure).toMatchObject({ code: 'internal', message: 'internal error' });
  expect(classifyUpstreamFailure(new TypeError('x is not a function'), unsent).code).toBe('internal');
  expect(classifyUpstreamFailure('thrown text', unsent).code).toBe('internal');
});

test('an AppError stays what it is', () => {
  const error = new AppError('overloaded', 'full');
  expect(classifyUpstreamFailure(error, unsent)).toBe(error);
  expect(classifyBrokenBody(error)).toBe(error);
});

test('a body that falls silent is tsdb_timeout, one that breaks off tsdb_unreachable', () => {
  expect(classifyBrokenBody(new errors.BodyTimeoutError()).code).toBe('tsdb_timeout');
  expect(classifyBrokenBody(withCode('ECONNRESET')).code).toBe('tsdb_unreachable');
});

test('redirects, 401 and codings that the client is not told of do not pass, other answers do', () => {
  for (const status of [300, 301, 302, 304, 307, 308, 399]) {
    expect(refusalOfAnswer(status)).toMatchObject({ code: 'tsdb_unreachable' });
  }
  expect(refusalOfAnswer(401)).toMatchObject({
    code: 'tsdb_unreachable',
    message: 'the external database refused our credentials',
    hint: expect.stringContaining('tsdb.http_url'),
  });
  expect(refusalOfAnswer(200, 'gzip, chunked')).toMatchObject({ message: expect.stringContaining('not HTTP') });
  expect(refusalOfAnswer(200, 'Chunked')).toBeUndefined();
  for (const status of [200, 204, 400, 403, 404, 405, 429, 500, 502, 503]) {
    expect(refusalOfAnswer(status)).toBeUndefined();
  }
});

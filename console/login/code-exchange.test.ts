import { expect, test } from 'vitest';
import { authorizationUrl, parseAnswer, tokensOf } from './code-exchange.ts';

const issuer = {
  issuer: 'corp',
  client_id: 'framehold console',
  scope: 'openid',
  authorization_endpoint: 'https://login.example.com/authorize?p=policy',
  token_endpoint: 'https://login.example.com/token',
};

test('the address of the issuer keeps the parameters that it has', () => {
  const attempt = { issuer, state: 's', verifier: 'v', redirectUri: 'http://localhost:9000/', hash: '#/sql' };
  const url = new URL(authorizationUrl(attempt, 'challenge'));
  expect(Object.fromEntries(url.searchParams)).toEqual({
    p: 'policy',
    response_type: 'code',
    client_id: 'framehold console',
    scope: 'openid',
    redirect_uri: 'http://localhost:9000/',
    state: 's',
    code_challenge: 'challenge',
    code_challenge_method: 'S256',
  });
  expect(url.href).not.toContain('verifier');
});

test('only a page with a state and a code or an error was opened by an issuer', () => {
  expect(parseAnswer('?code=c&state=s')).toEqual({ state: 's', code: 'c', error: '' });
  expect(parseAnswer('?error=access_denied&error_description=not+you&state=s')).toMatchObject({ error: 'not you' });
  for (const search of ['', '?state=s', '?code=c', '?utm=1']) expect(parseAnswer(search), search).toBeUndefined();
});

test('a token that is no JWT is not tried, and an error of the issuer is told', () => {
  expect(tokensOf('corp', 200, '{"access_token":"opaque","id_token":"a.b.c"}')).toEqual(['a.b.c']);
  expect(tokensOf('corp', 200, '{"access_token":"x.y.z","id_token":"a.b.c"}')).toEqual(['x.y.z', 'a.b.c']);
  expect(() => tokensOf('corp', 200, '{"access_token":"opaque"}')).toThrow('corp gave no token that');
  expect(() => tokensOf('corp', 400, '{"error":"invalid_grant"}')).toThrow('corp gave no token: invalid_grant');
  expect(() => tokensOf('corp', 502, '<html>')).toThrow('corp gave no token: status 502');
});

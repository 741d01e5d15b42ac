import type { IssuerLogin } from '../api/session.ts';

/** State that the tab keeps while its page is the issuer's. */
export interface LoginAttempt {
  readonly issuer: IssuerLogin;
  readonly state: string;
  /** Verifier of PKCE. */
  readonly verifier: string;
  readonly redirectUri: string;
  /** The place of the page. */
  readonly hash: string;
}

export interface AuthorizationAnswer {
  readonly state: string;
  readonly code: string | undefined;
  readonly error: string;
}

export function authorizationUrl({ issuer, state, redirectUri }: LoginAttempt, challenge: string): string {
  const url = new URL(issuer.authorization_endpoint);
  const parameters = {
    response_type: 'code',
    client_id: issuer.client_id,
    scope: issuer.scope,
    redirect_uri: redirectUri,
    state,
    code_challenge: challenge,
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

/** Undefined: the page was not opened by an issuer. */
export function parseAnswer(search: string): AuthorizationAnswer | undefined {
  const parameters = new URLSearchParams(search);
  const state = parameters.get('state');
  const code = parameters.get('code') ?? undefined;
  const error = parameters.get('error_description') ?? parameters.get('error');
  if (state === null || (code === undefined && error === null)) return undefined;
  return { state, code, error: error ?? '' };
}

/** Those of the issuer's answer that may be JWTs, the likelier first. */
export function tokensOf(issuer: string, status: number, text: string): readonly string[] {
  const answer = parseObject(text);
  if (status !== 200) {
    const reason = answer.error_description ?? answer.error ?? `status ${status}`;
    throw new Error(`${issuer} gave no token: ${String(reason)}`);
  }
  const tokens = [answer.access_token, answer.id_token].filter(
    (token): token is string => typeof token === 'string' && token.split('.').length === 3,
  );
  if (tokens.length === 0) throw new Error(`${issuer} gave no token that this server could read (a JWT)`);
  return tokens;
}

function parseObject(text: string): Record<string, unknown> {
  try {
    return (JSON.parse(text) ?? {}) as Record<string, unknown>;
  } catch {
    return {};
  }
}

import { signal } from '@preact/signals';
import { FrameholdError } from '#client/errors.ts';
import { type IssuerLogin, logIn } from '../api/session.ts';
import { authorizationUrl, type LoginAttempt, parseAnswer, tokensOf } from './code-exchange.ts';

const storageKey = 'framehold.login';
const answerWithinMs = 15_000;

/** Why the last login by an issuer failed. */
export const loginError = signal<unknown>(undefined);

/** Browsers have SHA-256 only if the page came by https, or from this machine. */
export const canLogInByIssuer = globalThis.isSecureContext && globalThis.crypto?.subtle !== undefined;

/** Leaves the page for the issuer's, which leads back to `/`. */
export async function beginLogin(issuer: IssuerLogin): Promise<void> {
  const attempt: LoginAttempt = {
    issuer,
    state: randomText(),
    verifier: randomText(),
    redirectUri: `${location.origin}/`,
    hash: location.hash,
  };
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(attempt.verifier));
  sessionStorage.setItem(storageKey, JSON.stringify(attempt));
  location.assign(authorizationUrl(attempt, base64Url(new Uint8Array(digest))));
}

/** If the issuer's answer opened the page: logs in, and returns to the old place. Resolves with whether it did. Never rejects. */
export async function finishLogin(): Promise<boolean> {
  const answer = parseAnswer(location.search);
  if (answer === undefined) return false;
  const kept = sessionStorage.getItem(storageKey);
  sessionStorage.removeItem(storageKey);
  const attempt = kept === null ? undefined : (JSON.parse(kept) as LoginAttempt);
  // Neither a reload nor the history shall show the code again.
  history.replaceState(null, '', `/${attempt?.hash ?? location.hash}`);
  dispatchEvent(new HashChangeEvent('hashchange'));
  try {
    if (attempt === undefined || answer.state !== attempt.state) {
      throw new Error('this login did not begin in this tab; begin it again');
    }
    if (answer.code === undefined) throw new Error(`${attempt.issuer.issuer} refused the login: ${answer.error}`);
    await takeFirst(await fetchTokens(attempt, answer.code));
    return true;
  } catch (error) {
    loginError.value = error;
    return false;
  }
}

async function fetchTokens({ issuer, verifier, redirectUri }: LoginAttempt, code: string): Promise<readonly string[]> {
  const response = await fetch(issuer.token_endpoint, {
    method: 'POST',
    credentials: 'omit',
    signal: AbortSignal.timeout(answerWithinMs),
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      client_id: issuer.client_id,
      code_verifier: verifier,
    }),
  }).catch(() => {
    throw new Error(`${issuer.issuer} cannot be reached from this page`);
  });
  return tokensOf(issuer.issuer, response.status, await response.text());
}

/** Issuers differ in which of their tokens is meant for us. */
async function takeFirst(tokens: readonly string[]): Promise<void> {
  let refusal: unknown;
  for (const token of tokens) {
    try {
      return await logIn(token);
    } catch (error) {
      refusal = error;
      if (!(error instanceof FrameholdError) || error.status !== 401) break;
    }
  }
  throw refusal;
}

function randomText(): string {
  return base64Url(crypto.getRandomValues(new Uint8Array(32)));
}

function base64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

import { useEffect, useState } from 'preact/hooks';
import { FrameholdError } from '#client/errors.ts';
import { messageOf } from '../api/api-error.ts';
import { call } from '../api/request.ts';
import { type IssuerLogin, identity, logIn, openSession } from '../api/session.ts';
import { beginLogin, canLogInByIssuer, loginError } from './code-flow.ts';

/** Replaces the requested view until the server accepts the caller. */
export function LoginView() {
  const issuers = useIssuers();
  const mayGoOn = useAnonymous();
  const [token, setToken] = useState('');
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      await logIn(token.trim());
      loginError.value = undefined;
    } catch (failure) {
      loginError.value = failure;
    } finally {
      setBusy(false);
    }
  };
  return (
    <form class="login" onSubmit={(event) => void submit(event)}>
      <h1>Log in</h1>
      {issuers.length > 0 && <IssuerButtons issuers={issuers} />}
      <label class="field">
        <span>Token</span>
        <input
          class="input"
          type="password"
          autoComplete="off"
          required
          value={token}
          onInput={(event) => setToken(event.currentTarget.value)}
        />
      </label>
      {loginError.value !== undefined && (
        <p class="error" role="alert">
          {reasonOf(loginError.value)}
        </p>
      )}
      <button type="submit" class={issuers.length > 0 ? 'button' : 'button primary'} disabled={isBusy}>
        Log in with the token
      </button>
      {mayGoOn && (
        <button type="button" class="button" onClick={() => void openSession()}>
          Go on without
        </button>
      )}
      <p class="muted">An operator makes one with framehold token create. It stays in this tab.</p>
    </form>
  );
}

function IssuerButtons({ issuers }: { readonly issuers: readonly IssuerLogin[] }) {
  const begin = (issuer: IssuerLogin): void => {
    beginLogin(issuer).catch((error: unknown) => {
      loginError.value = error;
    });
  };
  return (
    <>
      {issuers.map((issuer) => (
        <button
          key={issuer.issuer}
          type="button"
          class="button primary"
          disabled={!canLogInByIssuer}
          onClick={() => begin(issuer)}
        >
          Log in with {issuer.issuer}
        </button>
      ))}
      {!canLogInByIssuer && <p class="muted">This needs https, or the address localhost.</p>}
      <p class="login-or muted">or</p>
    </>
  );
}

/** Requested only without a credential. */
function useIssuers(): readonly IssuerLogin[] {
  const [issuers, setIssuers] = useState<readonly IssuerLogin[]>([]);
  useEffect(() => {
    const leaving = new AbortController();
    call('GET /info', { signal: leaving.signal }).then(
      ({ login = [] }) => setIssuers(login),
      () => {},
    );
    return () => leaving.abort();
  }, []);
  return issuers;
}

/** Whether one may go on without a token. */
function useAnonymous(): boolean {
  const [isAllowed, setAllowed] = useState(identity.peek()?.credential === 'anonymous');
  useEffect(() => {
    // Without an identity so far the server has refused a credential.
    if (isAllowed || identity.peek() === undefined) return undefined;
    const leaving = new AbortController();
    call('GET /whoami', { signal: leaving.signal }).then(
      ({ credential }) => setAllowed(credential === 'anonymous'),
      () => {},
    );
    return () => leaving.abort();
  }, []);
  return isAllowed;
}

function reasonOf(error: unknown): string {
  return error instanceof FrameholdError && error.status === 401
    ? `the server does not take this token: ${messageOf(error)}`
    : messageOf(error);
}

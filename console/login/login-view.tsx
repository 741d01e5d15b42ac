import { useState } from 'preact/hooks';
import { ApiError, messageOf } from '../api/api-error.ts';
import { logIn } from '../api/session.ts';

/** Stands in the place of the view that was asked for, until the server takes who asks. */
export function LoginView() {
  const [token, setToken] = useState('');
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      await logIn(token.trim());
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form class="login" onSubmit={(event) => void submit(event)}>
      <h1>Log in</h1>
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
      {error !== undefined && (
        <p class="error" role="alert">
          {error instanceof ApiError && error.status === 401 ? 'the server does not take this token' : messageOf(error)}
        </p>
      )}
      <button type="submit" class="button primary" disabled={isBusy}>
        Log in
      </button>
      <p class="muted">An operator makes one with framehold token create. It stays in this tab.</p>
    </form>
  );
}

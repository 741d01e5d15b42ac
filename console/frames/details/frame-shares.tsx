import { useEffect, useState } from 'preact/hooks';
import { isAbort } from '../../api/api-error.ts';
import { call } from '../../api/request.ts';
import { ErrorMessage } from '../../widgets/error-message.tsx';
import { Icon } from '../../widgets/icon.tsx';

/** The tenants that may read a frame of one's own. */
export function FrameShares({ handle }: { readonly handle: string }) {
  const [tenants, setTenants] = useState<readonly string[]>([]);
  const [name, setName] = useState('');
  const [error, setError] = useState<unknown>();
  const load = async (signal?: AbortSignal): Promise<void> => {
    const { shares } = await call('GET /handles/{handle}/shares', { segments: { handle }, signal });
    setTenants(shares.map(({ tenant }) => tenant));
  };
  /** Whether it was done. */
  const attempt = async (action: () => Promise<unknown>): Promise<boolean> => {
    try {
      await action();
      setError(undefined);
      return true;
    } catch (failure) {
      if (!isAbort(failure)) setError(failure);
      return false;
    }
  };
  useEffect(() => {
    const abort = new AbortController();
    void attempt(() => load(abort.signal));
    return () => abort.abort();
  }, [handle]);
  const change = (method: 'PUT' | 'DELETE', tenant: string): Promise<boolean> =>
    attempt(async () => {
      await call(`${method} /handles/{handle}/shares/{tenant}`, { segments: { handle, tenant } });
      await load();
    });
  return (
    <section class="frame-section">
      <h2>Shares</h2>
      {tenants.length === 0 && <p class="muted">No other tenant may read it.</p>}
      <ul class="share-list">
        {tenants.map((tenant) => (
          <li key={tenant} class="toolbar">
            <span>{tenant}</span>
            <button
              type="button"
              class="icon-button"
              aria-label={`Do not share with ${tenant} any more`}
              onClick={() => void change('DELETE', tenant)}
            >
              <Icon name="close" />
            </button>
          </li>
        ))}
      </ul>
      <form
        class="toolbar"
        onSubmit={(event) => {
          event.preventDefault();
          void change('PUT', name.trim()).then((isShared) => isShared && setName(''));
        }}
      >
        <input
          class="input"
          type="text"
          aria-label="Tenant to share with"
          placeholder="tenant"
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <button type="submit" class="button" disabled={name.trim() === ''}>
          <Icon name="share" /> Share
        </button>
      </form>
      <ErrorMessage error={error} />
    </section>
  );
}

import { signal } from '@preact/signals';

const storageKey = 'framehold.token';

/** The caller's credential. Kept for this tab alone. */
export const token = signal<string | undefined>(sessionStorage.getItem(storageKey) ?? undefined);

/** Whether the server needs a credential, and has none. */
export const needsLogin = signal(false);

export function keepToken(value: string): void {
  sessionStorage.setItem(storageKey, value);
  token.value = value;
  needsLogin.value = false;
}

export function forgetToken(): void {
  sessionStorage.removeItem(storageKey);
  token.value = undefined;
}

/** After a 401 to a request with this token; a token that replaced it meanwhile stays. */
export function expireSession(asked: string | undefined): void {
  if (token.peek() !== asked) return;
  forgetToken();
  needsLogin.value = true;
}

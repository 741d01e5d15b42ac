import { computed, signal } from '@preact/signals';
import type { Answer } from '#client/api.ts';
import { FrameholdError } from '#client/errors.ts';
import { call } from './request.ts';
import { forgetToken, keepToken, needsLogin } from './session-token.ts';

export type Identity = Answer<'GET /whoami'>;
export type Role = Identity['role'];
export type ServerInfo = Answer<'GET /info'>;
/** The logins by the authorization code flow. */
export type IssuerLogin = NonNullable<ServerInfo['login']>[number];

export const identity = signal<Identity | undefined>(undefined);
export const serverInfo = signal<ServerInfo | undefined>(undefined);
/** Reason for which the server cannot be reached. */
export const sessionError = signal<unknown>(undefined);

const ranks: readonly Role[] = ['read', 'write', 'admin', 'operator'];
const rank = computed(() => ranks.indexOf(identity.value?.role ?? 'read'));

/** Actions without a right are not offered. */
export const mayWrite = computed(() => rank.value >= ranks.indexOf('write'));
export const mayAdminister = computed(() => rank.value >= ranks.indexOf('admin'));
export const isOperator = computed(() => rank.value >= ranks.indexOf('operator'));

/** Looks up the caller's identity. */
export async function openSession(): Promise<void> {
  try {
    sessionError.value = undefined;
    serverInfo.value = await call('GET /info', {});
    identity.value = await call('GET /whoami', {});
    needsLogin.value = false;
    // Strangers see less.
    if (serverInfo.value.engines === undefined) serverInfo.value = await call('GET /info', {});
  } catch (error) {
    if (error instanceof FrameholdError && error.status === 401) needsLogin.value = true;
    else sessionError.value = error;
  }
}

/** Rejects if the server refuses the token. Until then it is not stored: every view would use it, and fail. */
export async function logIn(token: string): Promise<void> {
  const next = await call('GET /whoami', { headers: { authorization: `Bearer ${token}` } });
  keepToken(token);
  // Another user must see nothing of the memory, such as the results of statements.
  if (mayHaveSeenMore(identity.peek(), next)) location.reload();
  else await openSession();
}

function mayHaveSeenMore(before: Identity | undefined, { tenant, name, role, prefix }: Identity): boolean {
  if (before === undefined) return false;
  if (before.credential === 'anonymous' && before.tenant === tenant) return false;
  return before.tenant !== tenant || before.name !== name || before.role !== role || before.prefix !== prefix;
}

/** Reloads, so that nothing of the old session stays in memory. Leads to the login, or on as anonymous where that is allowed. */
export function logOut(): void {
  forgetToken();
  location.reload();
}

import { computed, signal } from '@preact/signals';
import type { Answer } from '#client/api.ts';
import { FrameholdError } from '#client/errors.ts';
import { call } from './request.ts';
import { forgetToken, keepToken, needsLogin } from './session-token.ts';

export type Identity = Answer<'GET /whoami'>;
export type Role = Identity['role'];
export type ServerInfo = Answer<'GET /info'>;
/** Where people log in by the authorization code flow. */
export type IssuerLogin = NonNullable<ServerInfo['login']>[number];

export const identity = signal<Identity | undefined>(undefined);
export const serverInfo = signal<ServerInfo | undefined>(undefined);
/** Why the server cannot be asked at all. */
export const sessionError = signal<unknown>(undefined);

const ranks: readonly Role[] = ['read', 'write', 'admin', 'operator'];
const rank = computed(() => ranks.indexOf(identity.value?.role ?? 'read'));

/** What one may not do is not offered. */
export const mayWrite = computed(() => rank.value >= ranks.indexOf('write'));
export const mayAdminister = computed(() => rank.value >= ranks.indexOf('admin'));
export const isOperator = computed(() => rank.value >= ranks.indexOf('operator'));

/** Asks the server who this is. */
export async function openSession(): Promise<void> {
  try {
    sessionError.value = undefined;
    serverInfo.value = await call('GET /info', {});
    identity.value = await call('GET /whoami', {});
    needsLogin.value = false;
    // Strangers are told less.
    if (serverInfo.value.engines === undefined) serverInfo.value = await call('GET /info', {});
  } catch (error) {
    if (error instanceof FrameholdError && error.status === 401) needsLogin.value = true;
    else sessionError.value = error;
  }
}

/** Rejects where the server does not take it. Until then it is not kept: every view would ask with it, and fail. */
export async function logIn(token: string): Promise<void> {
  const next = await call('GET /whoami', { headers: { authorization: `Bearer ${token}` } });
  keepToken(token);
  // Somebody else sees nothing of what is in memory, such as the results of statements.
  if (mayHaveSeenMore(identity.peek(), next)) location.reload();
  else await openSession();
}

function mayHaveSeenMore(before: Identity | undefined, { tenant, name, role, prefix }: Identity): boolean {
  if (before === undefined) return false;
  if (before.credential === 'anonymous' && before.tenant === tenant) return false;
  return before.tenant !== tenant || before.name !== name || before.role !== role || before.prefix !== prefix;
}

/** Begins anew, so that nothing of what was seen stays in memory. Leads to the login, or on as anonymous where that is allowed. */
export function logOut(): void {
  forgetToken();
  location.reload();
}

import { AppError } from '../core/app-error.ts';
import type { Handle } from '../core/handle.ts';
import { hasRole, type Principal, type Role } from '../core/principal.ts';

/** Everything that a caller may want to do, and the least role for it. */
export const leastRole = {
  readFrames: 'read',
  runStatements: 'read',
  cancelOwnStatements: 'read',
  seeEngines: 'read',
  seeServer: 'read',
  writeFrames: 'write',
  manageTokens: 'admin',
  manageTenants: 'operator',
} as const satisfies Record<string, Role>;

export type Action = keyof typeof leastRole;

/** Whether the principal may do it: a pure decision, made before anything is looked up. */
export function may(principal: Principal, action: Action, handle?: Handle): boolean {
  return hasRole(principal.role, leastRole[action]) && (handle === undefined || isWithin(principal, handle));
}

/** Throws (`forbidden`) with the right that is missing. */
export function assertMay(principal: Principal, action: Action, handle?: Handle): void {
  if (may(principal, action, handle)) return;
  const needed = leastRole[action];
  if (!hasRole(principal.role, needed)) {
    throw new AppError('forbidden', `this needs the role ${needed}; yours is ${principal.role}`, {
      hint: 'GET /whoami shows who you are; ask an admin of your tenant for a token of that role',
    });
  }
  throw new AppError('forbidden', `your token is for handles that begin with ${principal.prefix}`, {
    hint: 'use such a handle, or a token without prefix',
  });
}

/** Whether a token's prefix lets it see the handle. */
export function isWithin({ prefix }: Pick<Principal, 'prefix'>, handle: string): boolean {
  return prefix === undefined || handle.startsWith(prefix);
}

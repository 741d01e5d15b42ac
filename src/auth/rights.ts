import { AppError } from '../core/app-error.ts';
import type { Handle } from '../core/handle.ts';
import { type Principal, type Role, roles } from '../core/principal.ts';

/** Everything that a caller may want to do, and the least role for it. */
export const leastRole = {
  readFrames: 'read',
  runStatements: 'read',
  cancelOwnStatements: 'read',
  seeEngines: 'read',
  seeServer: 'read',
  writeFrames: 'write',
  shareFrames: 'admin',
  manageTokens: 'admin',
  manageAllStatements: 'admin',
  manageTenants: 'operator',
  seeMetrics: 'operator',
} as const satisfies Record<string, Role>;

export type Action = keyof typeof leastRole;

/** Whether the principal may do it: a pure decision, made before anything is looked up. */
export function may(principal: Principal, action: Action, handle?: Handle): boolean {
  return hasRole(principal.role, leastRole[action]) && (handle === undefined || isWithin(principal, handle));
}

/** Throws (`forbidden`) with the right that is missing. */
export function assertMay(principal: Principal, action: Action, handle?: Handle): void {
  const needed = leastRole[action];
  if (!hasRole(principal.role, needed)) {
    throw new AppError('forbidden', `this needs the role ${needed}; yours is ${principal.role}`, {
      hint: 'GET /whoami shows who you are; ask an admin of your tenant for a token of that role',
    });
  }
  if (handle !== undefined && !isWithin(principal, handle)) {
    throw new AppError('forbidden', `your token is for handles that begin with ${principal.prefix}`, {
      hint: 'use such a handle, or a token without prefix',
    });
  }
}

export function hasRole(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed);
}

/** Whether a token's prefix lets it see the handle. */
export function isWithin({ prefix }: Pick<Principal, 'prefix'>, handle: string): boolean {
  return prefix === undefined || handle.startsWith(prefix);
}

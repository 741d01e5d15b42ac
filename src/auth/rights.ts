import { hasRole, type Principal, type Role } from '../core/callers/principal.ts';
import { AppError } from '../core/errors/app-error.ts';
import type { FrameName } from '../core/names/frame-name.ts';

/** Everything that a caller may want to do, and the least role for it. */
export const leastRole = {
  readFrames: 'read',
  runStatements: 'read',
  cancelOwnStatements: 'read',
  seeEngines: 'read',
  seeServer: 'read',
  writeFrames: 'write',
  manageShares: 'admin',
  manageTokens: 'admin',
  manageTenants: 'operator',
  seeSettings: 'operator',
  seeMetrics: 'operator',
} as const satisfies Record<string, Role>;

export type Action = keyof typeof leastRole;

/** Actions that a credential with a prefix never has: it could give itself one without. */
const wholeTenant: ReadonlySet<Action> = new Set(['manageTokens', 'manageTenants', 'seeSettings', 'seeMetrics']);

/** Whether the principal may do it: a pure decision, made before anything is looked up. */
export function may(principal: Principal, action: Action, name?: FrameName): boolean {
  if (!hasRole(principal.role, leastRole[action])) return false;
  if (wholeTenant.has(action)) return principal.prefix === undefined;
  return name === undefined || isWithin(principal, name);
}

/** Throws (`forbidden`) with the right that is missing. */
export function assertMay(principal: Principal, action: Action, name?: FrameName): void {
  if (may(principal, action, name)) return;
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

/** Whether a token's prefix lets it see the frame, by the name that the caller gives it: `owner/handle` where it is shared. */
export function isWithin({ prefix }: Pick<Principal, 'prefix'>, name: string): boolean {
  return prefix === undefined || name.startsWith(prefix);
}

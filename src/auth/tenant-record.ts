import { AppError } from '../core/app-error.ts';
import type { TenantLimits } from '../core/principal.ts';
import { isOptional } from '../frames/disk/record-folder.ts';

export interface TenantRecord extends TenantLimits {
  readonly createdAt: number;
  readonly engines: readonly string[];
}

export const noLimits: Omit<TenantRecord, 'createdAt'> = {
  maxBytes: undefined,
  maxFrames: undefined,
  maxStatements: undefined,
  maxRate: undefined,
  engines: [],
};

/** Undefined where the record of a file is none. */
export function parseTenantRecord(value: unknown): TenantRecord | undefined {
  const { createdAt, maxBytes, maxFrames, maxStatements, maxRate, engines } = value as Record<string, unknown>;
  if (typeof createdAt !== 'number' || !Array.isArray(engines) || !engines.every((each) => typeof each === 'string'))
    return undefined;
  if (!isOptional(maxBytes, 'number') || !isOptional(maxFrames, 'number')) return undefined;
  if (!isOptional(maxStatements, 'number') || !isOptional(maxRate, 'number')) return undefined;
  return { createdAt, maxBytes, maxFrames, maxStatements, maxRate, engines };
}

export function noSuchTenant(tenant: string): AppError {
  return new AppError('not_found', `there is no tenant ${JSON.stringify(tenant.slice(0, 100))}`, {
    hint: 'framehold tenant create makes one',
  });
}

/** Without its record nobody knows what the tenant may use. */
export function damagedTenant(tenant: string): AppError {
  return new AppError('auth_unavailable', `the record of the tenant ${tenant} cannot be read`, {
    hint: 'let the operator set its limits again',
  });
}

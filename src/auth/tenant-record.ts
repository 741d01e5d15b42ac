import type { TenantLimits } from '../core/callers/principal.ts';
import { AppError } from '../core/errors/app-error.ts';
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

/** The limits of a tenant without its record are unknown. */
export function damagedTenant(tenant: string): AppError {
  return new AppError('auth_unavailable', `the record of the tenant ${tenant} cannot be read`, {
    hint: 'let the operator set its limits again',
  });
}

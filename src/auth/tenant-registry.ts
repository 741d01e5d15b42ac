import { defaultTenant, isTenant, type Tenant } from '../core/callers/principal.ts';
import { AppError } from '../core/errors/app-error.ts';
import { autoEngineName, isEngineName, localEngineName } from '../core/names/engine-names.ts';
import { DurableFiles } from '../frames/disk/durable-file.ts';
import { AccessRecords } from './access-records.ts';
import { noLimits, type TenantRecord } from './tenant-record.ts';

/** A tenant as people see it. */
export type TenantDocument = ReturnType<typeof tenantDocument>;

/** Absent fields stay as they are; null removes a limit. */
export interface TenantChange {
  readonly max_frames?: number | null | undefined;
  readonly max_bytes?: number | null | undefined;
  readonly max_rate?: number | null | undefined;
  readonly max_statements?: number | null | undefined;
  readonly engines?: readonly string[] | undefined;
}

/** The tenants of a cold directory, for commands that work without a server. */
export interface TenantRegistry {
  create(name: string, change: TenantChange): Promise<TenantDocument>;
  set(name: string, change: TenantChange): Promise<TenantDocument>;
  list(): Promise<TenantDocument[]>;
  remove(name: string): Promise<void>;
}

export async function openTenantRegistry(coldDirectory: string): Promise<TenantRegistry> {
  return tenantRegistry(await AccessRecords.open(coldDirectory, new DurableFiles()));
}

export function tenantRegistry(records: AccessRecords): TenantRegistry {
  return {
    create: async (given, change) => {
      const name = parseTenant(given);
      const limits = { ...noLimits, ...limitsOf(name, change) };
      return tenantDocument(name, await records.createTenant(name, limits));
    },
    set: async (given, change) => {
      const name = parseTenant(given);
      return tenantDocument(name, await records.setTenant(name, limitsOf(name, change)));
    },
    list: async () => (await records.listTenants()).map(({ name, record }) => tenantDocument(name, record)),
    remove: async (given) => records.removeTenant(parseTenant(given)),
  };
}

export function parseTenant(name: string): Tenant {
  if (isTenant(name)) return name;
  throw new AppError('invalid_parameter', `${JSON.stringify(name.slice(0, 100))} cannot be the name of a tenant`, {
    hint: 'use 1 to 63 of a-z, 0-9, _ and -, a letter or digit first, and no name of a schema in SQL such as main',
  });
}

function tenantDocument(name: Tenant, record: TenantRecord | undefined) {
  return {
    name,
    created: record === undefined ? null : new Date(record.createdAt).toISOString(),
    max_frames: record?.maxFrames ?? null,
    max_bytes: record?.maxBytes ?? null,
    max_rate: record?.maxRate ?? null,
    max_statements: record?.maxStatements ?? null,
    // The default tenant has every one.
    engines: name === defaultTenant ? null : (record?.engines ?? []),
  };
}

type Limits = Omit<TenantRecord, 'createdAt'>;

function limitsOf(tenant: Tenant, change: TenantChange): Partial<Limits> {
  const { max_frames, max_bytes, max_rate, max_statements, engines } = change;
  return {
    ...(max_frames !== undefined && { maxFrames: limitOf('max_frames', max_frames, 0) }),
    ...(max_bytes !== undefined && { maxBytes: limitOf('max_bytes', max_bytes, 0) }),
    ...(max_rate !== undefined && { maxRate: limitOf('max_rate', max_rate, 1) }),
    ...(max_statements !== undefined && { maxStatements: limitOf('max_statements', max_statements, 0) }),
    ...(engines !== undefined && { engines: enginesOf(tenant, engines) }),
  };
}

function limitOf(name: string, value: number | null, least: number): number | undefined {
  if (value === null) return undefined;
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new AppError('invalid_parameter', `${name} is ${value}; it must be a whole number, at least ${least}`);
}

/** An engine may be granted before it is configured. */
function enginesOf(tenant: Tenant, engines: readonly string[]): readonly string[] {
  if (tenant === defaultTenant) {
    throw new AppError('invalid_parameter', 'the tenant default has every engine', { hint: 'leave out engines' });
  }
  const wrong = engines.find((name) => !isEngineName(name) || name === autoEngineName);
  if (wrong !== undefined) {
    throw new AppError('invalid_parameter', `${JSON.stringify(wrong.slice(0, 100))} is no engine that can be granted`, {
      hint: 'list tsdb, analytics, or names of [engines.<name>]',
    });
  }
  return [...new Set(engines)].filter((name) => name !== localEngineName).sort();
}

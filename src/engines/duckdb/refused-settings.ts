import { AppError } from '../../core/errors/app-error.ts';
import type { SqlJob } from '../../core/sql/sql.ts';
import type { TableConstraints } from '../../core/sql/table-constraints.ts';

/** Time settings of a caller's session may hold also where rows are checked, as in other databases. */
const ofTime: ReadonlySet<string> = new Set(['TimeZone', 'Calendar']);

/**
 * A statement's settings hold for all that it runs. They must not change which rows of a view are visible to readers without a
 * right on its tables, nor the meaning of a frame's constraints.
 */
export function refuseSettings({ tables, settings, constraints, into }: SqlJob): void {
  const given = Object.keys(settings ?? {});
  if (given.length === 0) return;
  const isHidden = tables.some((table) => table.kind === 'view' && table.isBarrier);
  if (isHidden) throw standardOnly('a view that hides what it reads gives its rows', given);
  const changed = given.filter((name) => !ofTime.has(name));
  if (changed.length > 0 && [constraints, into?.constraints].some(computes)) {
    throw standardOnly('a frame with CHECK or generated columns takes rows', changed);
  }
}

function computes(constraints: TableConstraints | undefined): boolean {
  return constraints !== undefined && constraints.checks.length + constraints.generated.length > 0;
}

function standardOnly(what: string, settings: readonly string[]): AppError {
  const names = settings.join(', ');
  return new AppError('invalid_parameter', `${what} under the standard settings alone, not with ${names}`, {
    hint: `leave out ${names}; in a session of Flight SQL: RESET ${settings[0]}`,
  });
}

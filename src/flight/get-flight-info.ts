import { SchemaResult } from '@framehold/grpc/flight';
import { AppError } from '../core/errors/app-error.ts';
import type { Followers } from '../follow/followers.ts';
import type { Frames } from '../frames/frames.ts';
import { selectColumns } from '../frames/read/select-columns.ts';
import type { RowFilter } from '../query/row-filter.ts';
import type { Call } from './call.ts';
import { arrowSchema } from './data/arrow-schema.ts';
import type { FlightSqlHandler } from './data/flight-sql-port.ts';
import { frameInfo, heldFrame } from './frame-info.ts';
import { parseDescriptor } from './request/descriptor.ts';
import { onlyInDoGet, parseReadTarget, type ReadTarget, wholeFrame } from './request/read-target.ts';

export interface FlightParts {
  readonly frames: Frames;
  readonly followers: Followers;
  readonly filter: RowFilter;
  readonly sql: FlightSqlHandler;
}

export async function getFlightInfo(
  { frames, sql }: FlightParts,
  request: Uint8Array,
  call: Call,
): Promise<Uint8Array> {
  const { target, command } = asked(request);
  const ofSql = command === undefined ? undefined : sql.getFlightInfo(command, request, call);
  if (ofSql !== undefined) return ofSql;
  const selection = target();
  if (selection.kind === 'sql') return sql.getFlightInfoOfSql(selection.sql, request, call);
  if (selection.kind === 'follow') throw onlyInDoGet('the command');
  return await frameInfo(await heldFrame(frames, selection, call), selection, request, call.lane);
}

export async function getSchema({ frames, sql }: FlightParts, request: Uint8Array, call: Call): Promise<Uint8Array> {
  const { target, command } = asked(request);
  const ofSql = command === undefined ? undefined : sql.getSchema(command, call);
  if (ofSql !== undefined) return SchemaResult.encode({ schema: await ofSql });
  const selection = target();
  if (selection.kind === 'sql') {
    return SchemaResult.encode({ schema: await sql.getSchemaOfSql(selection.sql, call) });
  }
  if (selection.kind === 'follow') throw onlyInDoGet('the command');
  const { handle, columns } = await heldFrame(frames, selection, call);
  return SchemaResult.encode({
    schema: await arrowSchema(selectColumns(handle, columns, selection.columns), call.lane),
  });
}

/** The command, for Flight SQL to look at first, and its meaning as a target. */
function asked(request: Uint8Array): { readonly command?: Uint8Array; readonly target: () => ReadTarget } {
  const descriptor = parseDescriptor(request);
  switch (descriptor.kind) {
    case 'none':
      throw new AppError('missing_parameter', 'the descriptor names nothing', {
        hint: 'give the path ["<handle>"], or a command',
      });
    case 'handle':
      return { target: () => wholeFrame(descriptor.handle) };
    case 'command':
      return { command: descriptor.command, target: () => parseReadTarget(descriptor.command, 'the command') };
    default:
      return descriptor satisfies never;
  }
}

import type { FrameInfo } from '#client/operations.ts';
import { shownBytes, shownCount } from '../../core/text/amounts.ts';
import type { ClientContext } from '../framework/client-command.ts';
import type { ClientTables } from '../framework/command-tables.ts';
import type { Given } from '../framework/flag-table.ts';
import { terminalTable } from '../terminal/terminal-table.ts';

/** `framehold ls` */
export async function ls(context: ClientContext, { operands, flags }: Given<ClientTables['ls']>): Promise<number> {
  const { environment } = context;
  const frames = await context.client.handles({ prefix: operands[0], signal: context.signal });
  if (flags.json) environment.stdout.write(`[${frames.map((frame) => JSON.stringify(frame)).join(',\n ')}]\n`);
  else if (environment.stdoutIsTerminal) environment.stdout.write(frameTable(context, frames));
  else environment.stdout.write(frames.map(tabbedLine).join(''));
  return 0;
}

export function frameTable({ environment }: ClientContext, frames: readonly FrameInfo[]): string {
  const columns = [
    { name: 'handle', type: 'VARCHAR' },
    { name: 'rows', type: 'LONG' },
    { name: 'size', type: 'LONG' },
    { name: 'created', type: 'VARCHAR' },
    { name: 'expires', type: 'VARCHAR' },
  ];
  const rows = frames.map(({ handle, kind, rows: count, bytes, created, expires, damaged }) => [
    handle,
    kind === 'view' ? 'view' : damaged == null ? (count ?? 0).toLocaleString('en-US') : 'damaged',
    kind === 'view' ? '' : shownBytes(bytes.cold),
    shownTime(created),
    shownTime(expires),
  ]);
  const table = frames.length === 0 ? '' : terminalTable(environment, columns, rows);
  return `${table}(${shownCount(frames.length, 'frame')})\n`;
}

/** To the second, in UTC as everywhere. */
export function shownTime(iso: string | null): string {
  return iso === null ? '' : `${iso.slice(0, 10)} ${iso.slice(11, 19)}`;
}

function tabbedLine({ handle, kind, state, rows, bytes, created, expires }: FrameInfo): string {
  return `${[handle, rows ?? '', bytes.cold, created ?? '', expires ?? '', kind === 'view' ? kind : state].join('\t')}\n`;
}

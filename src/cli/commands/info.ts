import type { FrameInfo } from '#client/operations.ts';
import { shownBytes } from '../../core/text/amounts.ts';
import type { ClientContext } from '../framework/client-command.ts';
import { printable } from '../framework/command-failure.ts';
import type { ClientTables } from '../framework/command-tables.ts';
import type { Given } from '../framework/flag-table.ts';
import { terminalTable } from '../terminal/terminal-table.ts';
import { shownTime } from './ls.ts';

/** `framehold info` */
export async function info(context: ClientContext, { operands, flags }: Given<ClientTables['info']>): Promise<number> {
  const frame = await context.client.info(operands[0] ?? '', context);
  context.environment.stdout.write(flags.json ? `${JSON.stringify(frame, null, 2)}\n` : description(context, frame));
  return 0;
}

export function description({ environment }: ClientContext, frame: FrameInfo): string {
  const { handle, rows, version, bytes, created, expires, columns, damaged } = frame;
  const facts: [string, string | undefined][] = [
    ['handle', handle],
    ['damaged', damaged ?? undefined],
    ['rows', rows?.toLocaleString('en-US')],
    ['version', String(version)],
    ['on disk', shownBytes(bytes.cold)],
    ['in memory', shownBytes(bytes.hot)],
    ['created', created === null ? undefined : `${shownTime(created)} UTC`],
    ['expires', expires === null ? 'never' : `${shownTime(expires)} UTC`],
  ];
  const lines = facts.flatMap(([name, value]) =>
    value === undefined ? [] : `${name.padEnd(9)}  ${printable(value)}\n`,
  );
  if (columns === null) return lines.join('');
  const table = terminalTable(
    environment,
    [
      { name: 'column', type: 'VARCHAR' },
      { name: 'type', type: 'VARCHAR' },
    ],
    columns.map(({ name, type, elemType }) => [name, elemType === undefined ? type : `${type} of ${elemType}`]),
  );
  return `${lines.join('')}\n${table}`;
}

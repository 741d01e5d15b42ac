import type { Column } from '#client/rows/cells.ts';
import type { Environment } from '../framework/environment.ts';
import { type TextCell, textTable } from './text-table.ts';

const numbers = /^(BYTE|SHORT|INT|LONG|FLOAT|DOUBLE|DECIMAL.*)$/;

/** A table for standard output: as wide as the terminal, or whole without one. */
export function terminalTable(
  environment: Environment,
  columns: readonly Column[],
  rows: readonly (readonly TextCell[])[],
): string {
  const aligned = columns.map(({ name, type }) => ({ name, align: numbers.test(type) ? 'right' : 'left' }) as const);
  return textTable(aligned, rows, {
    width: environment.stdoutIsTerminal ? environment.terminalWidth() : undefined,
    colour: hasColour(environment),
  });
}

function hasColour({ stdoutIsTerminal, env }: Environment): boolean {
  return stdoutIsTerminal && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb';
}

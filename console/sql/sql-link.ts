import { type ParameterValues, valuesIn } from './parameters/parameter-value.ts';

/** A statement that an address names. */
export interface LinkedStatement {
  readonly sql: string;
  readonly engine: string;
  /** To be run when it is opened: only over the door of the local engine that cannot change anything. */
  readonly isToRun: boolean;
  /** The settings of its plot; undefined where it is not to be plotted. */
  readonly plot: string | undefined;
  /** The values of its parameters, as they were typed. */
  readonly parameters: ParameterValues;
}

/** From the address `#/sql?q=…&engine=…&run=1&plot=…&params=…`. */
export function linkedStatement(parameters: URLSearchParams): LinkedStatement | undefined {
  const sql = parameters.get('q') ?? '';
  if (sql.trim() === '') return undefined;
  const engine = parameters.get('engine') ?? 'local';
  const isToRun = parameters.get('run') === '1' && engine === 'local';
  const values = valuesOf(parameters.get('params'));
  return { sql, engine, isToRun, plot: parameters.get('plot') ?? undefined, parameters: values };
}

function valuesOf(text: string | null): ParameterValues {
  try {
    return valuesIn(JSON.parse(text ?? '{}'));
  } catch {
    return {};
  }
}

import { type Precision, precisions } from '../../../encoding/line-protocol/line-values.ts';
import { choice, type Parameter, readParameters, withDefault } from '../../exchange/parameters.ts';
import { parseQueryString } from '../../exchange/query-string.ts';

/** The parsed options of lines. */
export interface WriteCommand {
  readonly precision: Precision;
  /** Undefined: as configured. */
  readonly addsColumns: boolean | undefined;
}

const precisionNames = Object.keys(precisions) as Precision[];

export const writeParameters = {
  precision: withDefault(
    choice(precisionNames, 'The unit of the timestamps. `n` and `ns` are the same, `u` and `us` are.'),
    'n',
  ),
  columns: choice(
    ['add', 'keep'],
    '`add`: a field or tag that the frame has not becomes a column of it, NULL in older rows. `keep`: it refuses the request. Default: as `write.add_columns` says.',
  ),
  bucket: ignored('The bucket of InfluxDB 2.'),
  org: ignored('The organisation of InfluxDB 2.'),
  orgID: ignored('The organisation of InfluxDB 2.'),
  db: ignored('The database of InfluxDB 1.'),
  rp: ignored('The retention policy of InfluxDB 1.'),
  consistency: ignored('The consistency of InfluxDB 1.'),
} as const;

export function parseWrite(target: string): WriteCommand {
  const { precision, columns } = readParameters(writeParameters, parseQueryString(target));
  return { precision, addsColumns: columns === undefined ? undefined : columns === 'add' };
}

function ignored(description: string): Parameter<undefined> {
  return {
    description: `${description} Accepted for InfluxDB's clients; has no effect here.`,
    schema: {},
    parse: () => undefined,
  };
}

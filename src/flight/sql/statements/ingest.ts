import type { Principal } from '../../../core/callers/principal.ts';
import { type Producer, refuseProducer } from '../../../core/callers/producer.ts';
import { AppError } from '../../../core/errors/app-error.ts';
import { mayUseEngine } from '../../../core/names/engine-names.ts';
import { parseHandle } from '../../../core/names/handle.ts';
import { analyticsCatalog, framesCatalog, framesSchema } from '../../../core/sql/sql.ts';
import type { Frames } from '../../../frames/frames.ts';
import { findFrame } from '../../../query/tables/frame-tables.ts';
import type { Call } from '../../call.ts';
import type { FlightUpload } from '../../data/flight-sql-port.ts';
import { parseTtlMs } from '../../request/put-options.ts';
import type { Ingest } from '../messages/sql-messages.ts';

const ifNotExist = { unspecified: 0, create: 1, fail: 2 } as const;
const ifExists = { unspecified: 0, fail: 1, append: 2, replace: 3 } as const;

interface IngestMode {
  readonly mode: 'create' | 'append' | 'overwrite';
  readonly mustExist: boolean;
}

/** Makes or extends a frame of the uploaded rows. Returns their number. */
export async function ingest(
  frames: Frames,
  principal: Principal,
  command: Ingest,
  upload: FlightUpload,
  { signal, lane, producer }: Pick<Call, 'signal' | 'lane'> & { readonly producer: Producer | undefined },
): Promise<number> {
  frames.assertMayWrite(principal);
  // As everywhere in SQL, a name matches a frame in any case.
  const handle =
    (await findFrame(frames, principal, { catalog: undefined, schema: undefined, name: command.table })) ??
    parseHandle(command.table);
  const { mode, mustExist } = ingestMode(command.tableDefinition);
  if (mode !== 'append') refuseProducer(producer, 'nothing is appended');
  refuseElsewhere(command, principal);
  if (command.temporary) {
    throw new AppError('sql_forbidden', `${handle} cannot be temporary: a frame is there for all connections`, {
      hint: 'leave temporary out; the option ttl ("15m") lets the frame go by itself. CREATE TEMP TABLE makes one of a session',
    });
  }
  const ttlMs = ttlOption(command.options);
  if (mustExist) await frames.describe(principal, handle, { signal });
  const source = { kind: 'arrow', stream: upload.ipcStream() } as const;
  await frames.put(principal, { handle, mode, ttlMs, source, producer }, { signal, lane });
  return upload.counts.rows;
}

export function ingestMode(definition: Ingest['tableDefinition']): IngestMode {
  const { ifNotExist: absent, ifExists: present } = definition ?? { ifNotExist: 0, ifExists: 0 };
  if (absent !== ifNotExist.create && absent !== ifNotExist.fail)
    throw unspecified('if_not_exist', absent, 'CREATE, FAIL');
  const mustExist = absent === ifNotExist.fail;
  switch (present) {
    case ifExists.append:
      return { mode: 'append', mustExist };
    case ifExists.replace:
      return { mode: 'overwrite', mustExist };
    case ifExists.fail:
      if (!mustExist) return { mode: 'create', mustExist };
      throw new AppError('invalid_parameter', 'if_not_exist and if_exists both say FAIL: nothing could be ingested');
    default:
      throw unspecified('if_exists', present, 'FAIL, APPEND, REPLACE');
  }
}

function unspecified(field: string, value: number, accepted: string): AppError {
  const what = value === 0 ? 'is not specified' : `is ${value}, which is not known`;
  return new AppError('invalid_parameter', `table_definition_options.${field} ${what}; it is one of ${accepted}`);
}

function refuseElsewhere({ catalog, schema }: Ingest, principal: Principal): void {
  if (catalog === analyticsCatalog && mayUseEngine(principal, analyticsCatalog)) {
    throw new AppError('sql_forbidden', `the catalog ${analyticsCatalog} is read-only`, {
      hint: `ingest into ${framesCatalog}.${framesSchema}`,
    });
  }
  const given = { catalog, schema };
  for (const [what, only] of [
    ['catalog', framesCatalog],
    ['schema', framesSchema],
  ] as const) {
    const name = given[what];
    if (name === undefined || name === '' || name === only) continue;
    throw new AppError('invalid_parameter', `there is no ${what} ${JSON.stringify(name)} to ingest into`, {
      hint: `leave it out, or say ${JSON.stringify(only)}`,
    });
  }
}

function ttlOption(options: Ingest['options']): number | null | undefined {
  let ttlMs: number | null | undefined;
  for (const { key, value } of options) {
    if (key !== 'ttl') {
      throw new AppError('invalid_parameter', `there is no ingest option ${JSON.stringify(key)}; ttl is the only one`);
    }
    ttlMs = parseTtlMs(value, 'the ingest options');
  }
  return ttlMs;
}

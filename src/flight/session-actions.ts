import {
  CloseSessionResult,
  closeStatus,
  GetSessionOptionsResult,
  SessionOptionValue,
  SetSessionOptionsRequest,
  SetSessionOptionsResult,
} from '@framehold/grpc/flight';
import { localEngineName } from '../core/names/engine-names.ts';
import type { Handle } from '../core/names/handle.ts';
import { analyticsCatalog, framesCatalog, framesSchema } from '../core/sql/sql.ts';
import { statementSettings } from '../core/sql/statement-settings.ts';
import type { Frames } from '../frames/frames.ts';
import { isAbsent } from '../query/tables/frame-tables.ts';
import type { Call } from './call.ts';
import type { FlightAction } from './data/flight-sql-port.ts';
import type { Sessions } from './request/sessions.ts';

export function sessionActions(sessions: Sessions, frames: Frames): FlightAction[] {
  return [
    {
      type: 'SetSessionOptions',
      description:
        'Sets options of the session (catalog, schema, engine, settings of statements such as TimeZone). Takes SetSessionOptionsRequest.',
      run: async (body, call) => {
        const refused = await sessions.set(call, SetSessionOptionsRequest.decode(body).sessionOptions);
        const errors = new Map([...refused].map(([name, value]) => [name, { value }]));
        return SetSessionOptionsResult.encode({ errors });
      },
    },
    {
      type: 'GetSessionOptions',
      description: 'The options of the session, or their defaults. Takes GetSessionOptionsRequest.',
      run: async (_, call) => {
        const { catalog = framesCatalog, schema = defaultSchemas[catalog] ?? '', ...more } = sessions.of(call) ?? {};
        const { engine = localEngineName, settings } = more;
        const options = Object.entries({ catalog, schema, engine, ...standardSettings, ...settings });
        const values = options.map(([name, string]) => [name, { ...noValue, string }] as const);
        return GetSessionOptionsResult.encode({ sessionOptions: new Map(values) });
      },
    },
    {
      type: 'CloseSession',
      description: 'Forgets the options of the session, and drops its temporary tables. Takes CloseSessionRequest.',
      run: async (_, call) => {
        for (const handle of sessions.close(call)) await dropIfThere(frames, call, handle);
        return CloseSessionResult.encode({ status: closeStatus.closed });
      },
    },
  ];
}

/** Another caller may have dropped it, or it has expired. */
async function dropIfThere(frames: Frames, { principal }: Call, handle: Handle): Promise<void> {
  try {
    await frames.drop(principal, handle);
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
}

const defaultSchemas: Readonly<Record<string, string>> = { [framesCatalog]: framesSchema, [analyticsCatalog]: 'main' };

const standardSettings = Object.fromEntries(
  Object.entries(statementSettings).map(([name, { standard }]) => [name, standard]),
);

const noValue = SessionOptionValue.decode(new Uint8Array(0));

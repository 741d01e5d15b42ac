import { localEngineName } from '../core/engine-names.ts';
import { analyticsCatalog, framesCatalog, framesSchema } from '../core/sql.ts';
import { statementSettings } from '../core/statement-settings.ts';
import {
  CloseSessionResult,
  closeStatus,
  GetSessionOptionsResult,
  SessionOptionValue,
  SetSessionOptionsRequest,
  SetSessionOptionsResult,
} from '../grpc/messages/flight.ts';
import type { FlightAction } from './data/flight-sql-port.ts';
import type { Sessions } from './request/sessions.ts';

export function sessionActions(sessions: Sessions): FlightAction[] {
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
      description: 'Forgets the options of the session. Takes CloseSessionRequest.',
      run: async (_, call) => {
        sessions.close(call);
        return CloseSessionResult.encode({ status: closeStatus.closed });
      },
    },
  ];
}

const defaultSchemas: Readonly<Record<string, string>> = { [framesCatalog]: framesSchema, [analyticsCatalog]: 'main' };

const standardSettings = Object.fromEntries(
  Object.entries(statementSettings).map(([name, { standard }]) => [name, standard]),
);

const noValue = SessionOptionValue.decode(new Uint8Array(0));

import {
  CancelFlightInfoRequest,
  CancelFlightInfoResult,
  cancelStatus,
  FlightEndpoint,
  FlightInfo,
  RenewFlightEndpointRequest,
} from '@framehold/grpc/flight';
import { AppError } from '../core/errors/app-error.ts';
import { type FrameName, parseFrameName } from '../core/names/frame-name.ts';
import type { JsonValue } from '../encoding/json/json-text.ts';
import type { Frames } from '../frames/frames.ts';
import type { FlightAction } from './data/flight-sql-port.ts';
import { timestamp } from './frame-info.ts';
import { decodeUtf8, invalidKey, readJsonKeys } from './request/json-object.ts';
import { parseTtlMs } from './request/put-options.ts';
import { parseReadTarget } from './request/read-target.ts';

const what = 'the body of the action';

export function frameActions(frames: Frames): FlightAction[] {
  return [
    {
      type: 'framehold.drop',
      description: 'Drops a frame. Takes its handle, or {"handle":…,"version":…} to drop only that version.',
      run: async (body, { principal }) => {
        const { handle, version } = parseBody(body, ['handle', 'version']);
        if (version !== undefined && !Number.isSafeInteger(version)) {
          throw invalidKey(what, 'version', version, 'a whole number');
        }
        await frames.drop(principal, handle, { ifVersion: version as number | undefined });
        return json({ handle });
      },
    },
    {
      type: 'framehold.renew',
      description:
        'Starts the time to live of a frame again. Takes its handle, or {"handle":…,"ttl":…} for another time; null lets it stay.',
      run: async (body, { principal }) => {
        const { handle, ttl } = parseBody(body, ['handle', 'ttl']);
        const { version, expiresAt } = await frames.renew(principal, handle, parseTtlMs(ttl, what));
        const expires = expiresAt === undefined ? null : new Date(expiresAt).toISOString();
        return json({ handle, version, expiresAt: expires });
      },
    },
    {
      type: 'RenewFlightEndpoint',
      description: 'Starts the time to live of the frame of an endpoint again. Takes RenewFlightEndpointRequest.',
      run: async (body, { principal }) => {
        const { endpoint } = RenewFlightEndpointRequest.decode(body);
        if (endpoint?.ticket === undefined) throw new AppError('missing_parameter', 'the endpoint has no ticket');
        const target = parseReadTarget(endpoint.ticket.ticket, 'the ticket of the endpoint');
        if (target.kind === 'sql') throw new AppError('invalid_parameter', 'a statement has no time to live');
        const { expiresAt } = await frames.renew(principal, target.handle);
        const expirationTime = expiresAt === undefined ? undefined : timestamp(expiresAt);
        return FlightEndpoint.encode({ ...endpoint, expirationTime });
      },
    },
    {
      type: 'CancelFlightInfo',
      description: 'Stops the work for a FlightInfo. Of a frame there is none to stop. Takes CancelFlightInfoRequest.',
      run: async (body) => {
        FlightInfo.decode(CancelFlightInfoRequest.decode(body).info);
        return CancelFlightInfoResult.encode({ status: cancelStatus.notCancellable });
      },
    },
  ];
}

function parseBody<const K extends string>(
  body: Uint8Array,
  keys: readonly ('handle' | K)[],
): { readonly handle: FrameName } & { readonly [P in K]?: JsonValue } {
  const text = decodeUtf8(body);
  if (text === undefined) throw new AppError('invalid_parameter', `${what} is not UTF-8`);
  if (!text.trimStart().startsWith('{')) return { handle: parseFrameName(text) } as ReturnType<typeof parseBody<K>>;
  const given = readJsonKeys(text, keys, what);
  const { handle } = given as { readonly handle?: JsonValue };
  if (handle === undefined) throw new AppError('missing_parameter', `${what} has no handle`);
  if (typeof handle !== 'string') throw invalidKey(what, 'handle', handle, 'text');
  return { ...given, handle: parseFrameName(handle) } as ReturnType<typeof parseBody<K>>;
}

function json(value: object): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

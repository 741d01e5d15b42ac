import {
  CancelFlightInfoRequest,
  CancelFlightInfoResult,
  CloseSessionResult,
  FlightEndpoint,
  FlightInfo,
  GetSessionOptionsResult,
  RenewFlightEndpointRequest,
  SessionOptionValue,
  SetSessionOptionsRequest,
  SetSessionOptionsResult,
} from '@framehold/grpc/flight';
import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { settingName } from '../../src/core/sql/statement-settings.ts';
import { byPath, FlightClient } from '../support/flight-client.ts';
import { useFlightServer } from '../support/flight-server.ts';
import { putSql } from '../support/frames.ts';

const { server, client } = await useFlightServer(FlightClient);

const secondsLeft = async (handle: string): Promise<number> => {
  const { messages } = await client.info(byPath(handle));
  return Number(messages[0]?.endpoint[0]?.expirationTime?.seconds) - Date.now() / 1000;
};

it('are listed with what they do, each once', async () => {
  const { messages } = await client.actions();
  const types = messages.map(({ type }) => type);
  expect(types).toEqual(expect.arrayContaining(['framehold.drop', 'framehold.renew', 'CloseSession']));
  expect(new Set(types).size).toBe(types.length);
  for (const { description } of messages) expect(description.length).toBeGreaterThan(10);
});

it('that are not known are refused, with the one that was meant', async () => {
  const { status: ended } = await client.action('framehold.dorp', 'x');
  expect(ended.code).toBe(status.UNIMPLEMENTED);
  expect(ended.details).toContain('did you mean framehold.drop?');
});

describe('framehold.drop', () => {
  it('drops by handle, and a dropped handle is told from one that never was', async () => {
    await putSql(server.frames, 'dropped', 'SELECT 1 AS one');
    const { messages } = await client.action('framehold.drop', 'dropped');
    expect(messages.map(({ body }) => JSON.parse(body.toString()))).toEqual([{ handle: 'dropped' }]);
    expect((await client.get('dropped')).code).toBe('handle_gone');
    expect((await client.action('framehold.drop', 'dropped')).code).toBe('handle_gone');
    expect((await client.action('framehold.drop', 'never')).code).toBe('handle_not_found');
  });

  it('drops a version only while it is the current one', async () => {
    await putSql(server.frames, 'versioned', 'SELECT 1 AS one');
    await putSql(server.frames, 'versioned', 'SELECT 2 AS one', { mode: 'overwrite' });
    expect((await client.action('framehold.drop', '{"handle":"versioned","version":1}')).code).toBe('handle_gone');
    expect((await client.getTable('versioned')).numRows).toBe(1);
    expect((await client.action('framehold.drop', '{"handle":"versioned","version":2}')).status.code).toBe(status.OK);
  });

  it.each(['', '.x', '{}', '{"handle":1}', '{"handle":"x","version":"1"}', '{"handle":"x","force":true}', '\xff'])(
    'refuses the body %j',
    async (body) => {
      const { status: ended } = await client.action('framehold.drop', Buffer.from(body, 'latin1'));
      expect(ended.code).toBe(status.INVALID_ARGUMENT);
    },
  );
});

describe('renewing', () => {
  it('starts the time to live again, with another length where one is given', async () => {
    await putSql(server.frames, 'renewed', 'SELECT 1 AS one', { ttlMs: 60_000 });
    const { messages } = await client.action('framehold.renew', '{"handle":"renewed","ttl":"2h"}');
    const answer = JSON.parse(messages[0]?.body.toString() ?? '');
    expect(answer).toMatchObject({ handle: 'renewed', version: 1 });
    expect(Date.parse(answer.expiresAt) / 1000 - Date.now() / 1000).toBeGreaterThan(7190);
    expect(await secondsLeft('renewed')).toBeGreaterThan(7190);
    await client.action('framehold.renew', '{"handle":"renewed","ttl":null}');
    expect(await secondsLeft('renewed')).toBeNaN();
    expect((await client.action('framehold.renew', '{"handle":"renewed","ttl":[]}')).code).toBe('invalid_parameter');
  });

  it('goes by endpoint, too', async () => {
    await putSql(server.frames, 'endpoint', 'SELECT 1 AS one', { ttlMs: 60_000 });
    const ticket = { ticket: Buffer.from('endpoint') };
    const body = RenewFlightEndpointRequest.encode({
      endpoint: { ticket, location: [], expirationTime: undefined, appMetadata: new Uint8Array(0) },
    });
    const { messages } = await client.action('RenewFlightEndpoint', body);
    const endpoint = FlightEndpoint.decode(messages[0]?.body ?? new Uint8Array(0));
    expect(Buffer.from(endpoint.ticket?.ticket ?? []).toString()).toBe('endpoint');
    expect(Number(endpoint.expirationTime?.seconds) - Date.now() / 1000).toBeGreaterThan(55);
    expect((await client.action('RenewFlightEndpoint')).code).toBe('missing_parameter');
  });
});

it('cancelling the flight of a frame finds nothing to cancel', async () => {
  const body = CancelFlightInfoRequest.encode({ info: FlightInfo.encode({ totalRecords: 1n }) });
  const { messages } = await client.action('CancelFlightInfo', body);
  expect(CancelFlightInfoResult.decode(messages[0]?.body ?? new Uint8Array(0)).status).toBe(3);
});

describe('a session', () => {
  const noValue = SessionOptionValue.decode(new Uint8Array(0));
  const set = async (options: Record<string, Partial<typeof noValue>>, headers = {}) => {
    const values = Object.entries(options).map(([name, value]) => [name, { ...noValue, ...value }] as const);
    const body = SetSessionOptionsRequest.encode({ sessionOptions: new Map(values) });
    const answer = await client.action('SetSessionOptions', body, headers);
    expect(answer.status.code).toBe(status.OK);
    return {
      errors: Object.fromEntries(SetSessionOptionsResult.decode(bodyOf(answer)).errors),
      cookie: answer.headers.get('set-cookie')[0]?.toString().split(';')[0],
    };
  };
  const get = async (headers = {}) => {
    const answer = await client.action('GetSessionOptions', '', headers);
    expect(answer.headers.get('set-cookie')).toEqual([]);
    const { sessionOptions } = GetSessionOptionsResult.decode(bodyOf(answer));
    const options = [...sessionOptions].map(([name, { string }]) => [name, string] as const);
    return Object.fromEntries(options.filter(([name]) => settingName(name) === undefined));
  };
  const bodyOf = (answer: { messages: readonly { body: Buffer }[] }): Buffer =>
    answer.messages[0]?.body ?? Buffer.alloc(0);

  it('begins with its first option, is known by its cookie and ends when closed', async () => {
    const defaults = { catalog: 'framehold', schema: 'frames', engine: 'local' };
    expect(await get()).toEqual(defaults);
    const { errors, cookie = '' } = await set({ catalog: { string: 'analytics' } });
    expect(errors).toEqual({});
    expect(cookie).toMatch(/^arrow_flight_session_id=[0-9A-Z]{26}$/);
    expect(await get({ cookie })).toEqual({ ...defaults, catalog: 'analytics', schema: 'main' });
    expect((await set({ schema: { string: 'own' } }, { cookie: `other=1; ${cookie}` })).cookie).toBeUndefined();
    expect(await get({ cookie })).toEqual({ ...defaults, catalog: 'analytics', schema: 'own' });
    await set({ catalog: {} }, { cookie });
    expect(await get({ cookie })).toEqual({ ...defaults, schema: 'own' });
    const closed = await client.action('CloseSession', '', { cookie });
    expect(CloseSessionResult.decode(bodyOf(closed)).status).toBe(1);
    expect(await get({ cookie })).toEqual(defaults);
  });

  it('tells each option that it cannot take', async () => {
    const { errors } = await set({
      catalog: { string: 'elsewhere' },
      schema: { int64: 5n },
      colour: { double: 1.5 },
    });
    expect(errors).toEqual({ catalog: { value: 2 }, schema: { value: 2 }, colour: { value: 1 } });
  });

  it('that never was can be closed', async () => {
    expect((await client.action('CloseSession')).status.code).toBe(status.OK);
  });
});

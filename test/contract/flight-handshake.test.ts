import { once } from 'node:events';
import { status } from '@grpc/grpc-js';
import { expect, it } from 'vitest';
import { FlightClient, gather } from '../support/flight-client.ts';
import { useFlightServer } from '../support/flight-server.ts';

const { client } = await useFlightServer(FlightClient);

const basic = `Basic ${Buffer.from('me:secret').toString('base64')}`;

it.each([
  ['name and password', basic],
  ['name and password without padding', basic.replaceAll('=', '')],
  ['nothing', undefined],
])('gives a token in the first headers for %s by header, and no message for none', async (_, authorization) => {
  const call = client.handshake(authorization === undefined ? {} : { authorization });
  const answer = gather(call);
  call.end();
  const { status: ended, headers, messages } = await answer;
  expect(ended.code).toBe(status.OK);
  expect(headers.get('authorization')[0]).toMatch(/^Bearer [0-9A-Z]{26}$/);
  expect(messages).toEqual([]);
});

it('gives back the token that came', async () => {
  const call = client.handshake({ authorization: 'Bearer my.own-token' });
  const answer = gather(call);
  call.write({});
  call.end();
  const { headers, messages } = await answer;
  expect(headers.get('authorization')).toEqual(['Bearer my.own-token']);
  expect(messages).toHaveLength(1);
});

it('answers a message at once, before the client ends', async () => {
  const call = client.handshake({});
  const answer = gather(call);
  call.write({ protocolVersion: 0, payload: Buffer.from('me:secret') });
  const [response] = await once(call, 'data');
  expect(response.payload.length).toBe(26);
  call.end();
  expect((await answer).status.code).toBe(status.OK);
});

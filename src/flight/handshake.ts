import { HandshakeRequest, HandshakeResponse } from '../grpc/messages/flight.ts';
import type { Call, Message } from '../grpc/server/method.ts';
import type { Sessions } from './request/sessions.ts';

/**
 * Gives every client a token, as there is no authentication yet: by header to those who send their name by header
 * (and mostly no message), by message to those who send messages and wait for the answer before they send on.
 */
export async function* handshake(
  requests: AsyncIterable<Uint8Array>,
  call: Call,
  sessions: Sessions,
): AsyncGenerator<Message> {
  const given = givenToken(call.metadata.authorization);
  const token = given === undefined ? sessions.newToken() : sessions.adopt(given);
  call.setHeader('authorization', `Bearer ${token}`);
  for await (const request of requests) {
    const { protocolVersion } = HandshakeRequest.decode(request);
    yield HandshakeResponse.encode({ protocolVersion, payload: Buffer.from(token) });
  }
}

/** Who comes with a token keeps it, also where an earlier server gave it. */
function givenToken(authorization: string | undefined): string | undefined {
  return /^Bearer ([\x21-\x7e]{1,4096})$/i.exec(authorization ?? '')?.[1];
}

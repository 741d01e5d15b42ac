import { HandshakeRequest, HandshakeResponse } from '../grpc/messages/flight.ts';
import type { Call, Message } from '../grpc/server/method.ts';
import type { Sessions } from './request/sessions.ts';

/**
 * Gives every client a token, its own where it has shown one: by header to those who send their name by header
 * (and mostly no message), by message to those who send messages and wait for the answer before they send on.
 */
export async function* handshake(
  requests: AsyncIterable<Uint8Array>,
  call: Call,
  sessions: Sessions,
): AsyncGenerator<Message> {
  const token = await sessions.tokenFor(call);
  call.setHeader('authorization', `Bearer ${token}`);
  for await (const request of requests) {
    const { protocolVersion } = HandshakeRequest.decode(request);
    yield HandshakeResponse.encode({ protocolVersion, payload: Buffer.from(token) });
  }
}

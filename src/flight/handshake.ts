import type { Message } from '@framehold/grpc';
import { HandshakeRequest, HandshakeResponse } from '@framehold/grpc/flight';
import type { Call } from './call.ts';
import type { Sessions } from './request/sessions.ts';

/**
 * Gives every client a token, its own if it has sent one: by header to clients that send their name by header (and mostly no
 * message), by message to clients that send messages and wait for the answer before they go on.
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

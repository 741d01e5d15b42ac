import { afterAll } from 'vitest';
import { type Framehold, type FrameholdOptions, startFramehold } from './framehold.ts';

/** For the tests of a file: a server, and a client of its gRPC port. */
export async function useFlightServer<Client extends Disposable>(
  client: new (port: number) => Client,
  options?: FrameholdOptions,
): Promise<{ readonly server: Framehold; readonly client: Client }> {
  const server = await startFramehold(options);
  const connected = new client(server.grpcAddress.port);
  afterAll(async () => {
    connected[Symbol.dispose]();
    await server[Symbol.asyncDispose]();
  });
  return { server, client: connected };
}

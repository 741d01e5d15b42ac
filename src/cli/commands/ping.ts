import { shownMs } from '../../core/text/amounts.ts';
import type { ClientContext } from '../framework/client-command.ts';
import { failureLine } from '../framework/command-failure.ts';

/** `framehold ping`: a line for each listener; exit code 1 when one of them does not answer. */
export async function ping(context: ClientContext): Promise<number> {
  const { client } = context;
  const isHttpUp = await isReached(context, 'HTTP', async () => {
    const { version } = await client.server(context);
    return `${client.address} answers (Framehold ${version})`;
  });
  if (!isHttpUp) return 1;
  const isGrpcUp = await isReached(context, 'gRPC', async () => {
    const flight = await client.flight(context);
    await flight.check(context);
    return `${flight.address} answers`;
  });
  return isGrpcUp ? 0 : 1;
}

async function isReached(
  { environment, signal }: ClientContext,
  name: string,
  ask: () => Promise<string>,
): Promise<boolean> {
  const startedMs = performance.now();
  try {
    const answer = await ask();
    environment.stdout.write(`${name}  ${answer} in ${shownMs(performance.now() - startedMs)}\n`);
    return true;
  } catch (error) {
    signal.throwIfAborted();
    const line = failureLine(error);
    if (line === undefined) throw error;
    environment.stderr.write(`framehold: ${name}: ${line}\n`);
    return false;
  }
}

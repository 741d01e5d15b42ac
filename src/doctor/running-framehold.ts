import { get as getPlain } from 'node:http';
import { get as getTls } from 'node:https';
import type { ListenAddress } from '../config/listen-address.ts';
import { LinkedAbort } from '../core/async/linked-abort.ts';

export interface RunningFramehold {
  /** With its version if strangers may see that. */
  readonly name: string;
  readonly grpcPort: number;
}

const timeoutMs = 1500;
const mostBytes = 64 * 1024;

/** The answer of `/info` at this address. Undefined: it is no Framehold server. */
export async function frameholdAt(
  { host, port }: ListenAddress,
  { signal }: { readonly signal: AbortSignal },
): Promise<RunningFramehold | undefined> {
  using limit = new LinkedAbort([signal], timeoutMs);
  for (const get of [getPlain, getTls]) {
    const text = await bodyOf(get, { host, port, path: '/info' }, limit.signal);
    const info = text === undefined ? undefined : parseInfo(text);
    if (info !== undefined) return info;
  }
  return undefined;
}

/** Whether a listener for probes or metrics of a Framehold answers. */
export async function answersProbes(
  { host, port }: ListenAddress,
  { signal }: { readonly signal: AbortSignal },
): Promise<boolean> {
  using limit = new LinkedAbort([signal], timeoutMs);
  return (await bodyOf(getPlain, { host, port, path: '/livez' }, limit.signal)) === 'ok';
}

/** No secret is sent, so the server need not prove its identity. */
function bodyOf(
  get: typeof getTls,
  target: { readonly host: string; readonly port: number; readonly path: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const request = get({ ...target, signal, agent: false, rejectUnauthorized: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
        if (text.length > mostBytes) response.destroy();
      });
      response.once('close', () => resolve(text));
    });
    request.once('error', () => resolve(undefined));
  });
}

function parseInfo(text: string): RunningFramehold | undefined {
  try {
    const info = JSON.parse(text) as { name?: unknown; version?: unknown; grpc?: { port?: unknown } };
    if (info.name !== 'framehold') return undefined;
    const version = typeof info.version === 'string' ? ` ${info.version}` : '';
    return { name: `Framehold${version}`, grpcPort: Number(info.grpc?.port) };
  } catch {
    return undefined;
  }
}

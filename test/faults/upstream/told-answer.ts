import { type Agent, get, type IncomingHttpHeaders } from 'node:http';
import { markedSql } from './marked-upstream.ts';

/** What a client was told: a whole answer, or one that broke off. */
export type ToldAnswer =
  | {
      readonly kind: 'whole';
      readonly status: number;
      readonly headers: IncomingHttpHeaders;
      readonly body: Buffer;
      readonly ms: number;
    }
  | { readonly kind: 'cut'; readonly status: number | undefined; readonly bytes: number; readonly ms: number };

export interface AskMarkedOptions {
  readonly agent?: Agent | undefined;
  readonly door?: 'exec' | 'exp';
  readonly headers?: Readonly<Record<string, string>>;
}

/** Asks for a marked statement through the server. Never rejects. */
export function askMarked(base: string, marker: number, options: AskMarkedOptions = {}): Promise<ToldAnswer> {
  const { agent = false, door = 'exec', headers = {} } = options;
  const fmt = door === 'exec' ? 'json' : 'csv';
  const url = `${base}/${door}?${new URLSearchParams({ query: markedSql(marker), fmt, engine: 'tsdb' })}`;
  const startedAt = performance.now();
  return new Promise((resolve) => {
    let status: number | undefined;
    const pieces: Buffer[] = [];
    const ms = (): number => performance.now() - startedAt;
    const cut = (): void =>
      resolve({ kind: 'cut', status, bytes: pieces.reduce((sum, { length }) => sum + length, 0), ms: ms() });
    get(url, { agent, headers }, (incoming) => {
      status = incoming.statusCode ?? 0;
      const whole = { kind: 'whole', status, headers: incoming.headers } as const;
      incoming.on('data', (piece: Buffer) => pieces.push(piece));
      incoming.on('error', cut);
      incoming.on('end', () => resolve({ ...whole, body: Buffer.concat(pieces), ms: ms() }));
    }).on('error', cut);
  });
}

/** The code of an error of ours; undefined for an answer that is none. */
export function codeOf(told: ToldAnswer): string | undefined {
  if (told.kind === 'cut' || told.status < 400) return undefined;
  try {
    return (JSON.parse(String(told.body)) as { code?: string }).code;
  } catch {
    return undefined;
  }
}

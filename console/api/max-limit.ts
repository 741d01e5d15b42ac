import { type ServerInfo, serverInfo } from './session.ts';

/** The most rows that the server returns at once. Waits for the server's limit. */
export async function maxLimit(signal: AbortSignal): Promise<number> {
  const known = limitOf(serverInfo.peek());
  if (known !== undefined) return known;
  let unsubscribe = (): void => {};
  const told = new Promise<number>((resolve, reject) => {
    unsubscribe = serverInfo.subscribe((info) => {
      const limit = limitOf(info);
      if (limit !== undefined) resolve(limit);
    });
    signal.addEventListener('abort', () => reject(signal.reason));
  });
  return told.finally(() => unsubscribe());
}

/** Asks for rows [from, to) in as many requests as the server needs for them. */
export async function rowsInRequests<Row>(
  from: number,
  to: number,
  signal: AbortSignal,
  ask: (from: number, to: number) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const most = await maxLimit(signal);
  if (to - from <= most) return ask(from, to);
  const rows: Row[] = [];
  for (let at = from; at < to; at += most) rows.push(...(await ask(at, Math.min(at + most, to))));
  return rows;
}

function limitOf(info: ServerInfo | undefined): number | undefined {
  return info && (info.max_limit ?? Number.POSITIVE_INFINITY);
}

import { httpGetBody, urlOf } from '../harness/http-get.ts';
import { runLoad } from '../harness/load.ts';
import type { LoadResult } from '../harness/load-spec.ts';
import type { HttpServer } from '../harness/server-process.ts';

/** Rows of one append. */
export const rowsPerAppend = 10;
const differentBodies = 64;
const firstNs = 1_700_000_000_000_000_000n;

/** Ten rows a body, as a program that collects ticks sends them. */
export const tickCsv: readonly string[] = Array.from({ length: differentBodies }, (_, body) => {
  const lines = Array.from({ length: rowsPerAppend }, (_, row) => {
    const { symbol, price, size, atNs } = tick(body * rowsPerAppend + row);
    return `${symbol},${price},${size},${new Date(Number(atNs / 1_000_000n)).toISOString().slice(0, -1)}000Z\n`;
  });
  return `symbol,price,size,at\n${lines.join('')}`;
});

/** The same as line protocol. */
export function tickLines(handle: string): readonly string[] {
  return Array.from({ length: differentBodies }, (_, body) =>
    Array.from({ length: rowsPerAppend }, (_, row) => {
      const { symbol, price, size, atNs } = tick(body * rowsPerAppend + row);
      return `${handle},symbol=${symbol} price=${price},size=${size}i ${atNs}\n`;
    }).join(''),
  );
}

function tick(n: number) {
  const symbol = ['AAPL', 'MSFT', 'GOOG', 'AMZN', 'NVDA'][n % 5];
  return {
    symbol,
    price: (100 + (n % 977) / 8).toFixed(3),
    size: (n % 50) + 1,
    atNs: firstNs + BigInt(n) * 1_000_000n,
  };
}

/** Appends by CSV, as often as asked. */
export function appendTicks(
  server: HttpServer,
  handle: string,
  spec: { readonly appends: number; readonly connections: number },
): Promise<LoadResult> {
  return runLoad({
    ...server,
    connections: spec.connections,
    paths: [`/imp?name=${handle}&append=true&format=csv&header=true&fmt=json`],
    bodies: tickCsv,
    until: { requests: spec.appends },
  });
}

export async function rowsIn(server: HttpServer, handle: string): Promise<number> {
  const { rows } = JSON.parse((await httpGetBody(urlOf(server, `/handles/${handle}`))).toString()) as { rows: number };
  return rows;
}

export async function assertRows(server: HttpServer, handle: string, expected: number): Promise<void> {
  const rows = await rowsIn(server, handle);
  if (rows !== expected) throw new Error(`${handle} has ${rows} rows, and ${expected} were acknowledged`);
}

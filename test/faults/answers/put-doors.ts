import { readFile, rm } from 'node:fs/promises';
import { byPath, FlightClient } from '../../support/flight-client.ts';
import { type Answer, ask } from '../../support/http-client.ts';
import { importRaw } from '../../support/import-client.ts';
import type { Address } from '../harness/doors.ts';
import { promised } from '../harness/scenario.ts';
import { pieces } from './column-case.ts';
import type { Reference } from './reference.ts';
import { type PutDoor, rowsOf, type TableCase } from './table-case.ts';

interface Piece {
  readonly from: number;
  readonly to: number;
  /** False: it is appended. */
  readonly isFirst: boolean;
}

interface Put {
  readonly to: Address;
  readonly table: TableCase;
  readonly frame: string;
  readonly reference: Reference;
}

const putDoors: Readonly<Record<PutDoor, (put: Put, piece: Piece) => Promise<void>>> = {
  createTable: ({ to, table, frame }: Put, { isFirst, ...range }: Piece) =>
    taken(sql(to, `${isFirst ? `CREATE TABLE ${frame} AS` : `INSERT INTO ${frame}`} ${rowsOf(table, range)}`)),

  imp: async ({ to, table, frame }: Put, piece: Piece) =>
    taken(importRaw(to, `name=${frame}&append=${!piece.isFirst}`, await arrowOf(to, table, piece))),

  async impParquet({ to, table, frame, reference }: Put, { isFirst, ...range }: Piece) {
    const path = await reference.parquet(rowsOf(table, { ...range, asKept: true }));
    await taken(importRaw(to, `name=${frame}&append=${!isFirst}`, await readFile(path)));
    await reference.addFile(frame, path);
    await rm(path);
  },

  async doPut({ to, table, frame }: Put, piece: Piece) {
    using flight = new FlightClient(to.grpcPort);
    const mode = piece.isFirst ? 'create' : 'append';
    const { status } = await flight.put(byPath(frame), await arrowOf(to, table, piece), { appMetadata: { mode } });
    promised(status.code === 0, `DoPut of ${frame} is taken`, status.details);
  },

  async lines({ to, table, frame, reference }: Put, piece: Piece) {
    const body = await linesOf(table, frame, reference, piece);
    await taken(ask(`${to.url}/write?columns=add`, { method: 'POST', body }));
  },
};

/** Makes the frame in pieces, all but the first of which are appended. Gives the table of the reference with its rows. */
export async function putFrame(door: PutDoor, put: Put): Promise<string> {
  for (const [index, [from, to]] of pieces.entries()) await putDoors[door](put, { from, to, isFirst: index === 0 });
  return door === 'impParquet' ? put.frame : put.table.name;
}

export function sql({ url }: Pick<Address, 'url'>, text: string, format = 'json'): Promise<Answer> {
  return ask(`${url}/sql`, { method: 'POST', body: JSON.stringify({ sql: text, format }) });
}

async function taken(answer: Promise<Answer>): Promise<void> {
  const { status, text } = await answer;
  promised(status < 300, 'a put is taken', text.slice(-600));
}

async function arrowOf(to: Address, table: TableCase, range: Omit<Piece, 'isFirst'>): Promise<Buffer> {
  const { status, body, text } = await sql(to, rowsOf(table, { ...range, asKept: true }), 'arrow');
  promised(status === 200, 'the rows are made', text.slice(-600));
  return body;
}

async function linesOf(table: TableCase, frame: string, reference: Reference, { from, to }: Piece): Promise<string> {
  const texts = table.columns.map(({ name }) => `${name}::VARCHAR`).join(', ');
  const rows = await reference.rows(
    `SELECT i::VARCHAR, ${texts} FROM ${table.name} WHERE i >= ${from} AND i < ${to} ORDER BY i`,
  );
  return rows
    .map(([i, ...values]) => {
      const fields = table.columns.flatMap(({ name, kind }, index) => {
        const value = values[index];
        return value == null ? [] : [`${name}=${lineValue(kind.type, value)}`];
      });
      return `${frame} ${[`i=${i}i`, 'm=0i', ...fields].join(',')} ${1_700_000_000_000_000_000n + BigInt(i ?? 0)}\n`;
    })
    .join('');
}

function lineValue(type: string, text: string): string {
  if (type === 'BIGINT') return `${text}i`;
  return type === 'VARCHAR' ? `"${text.replaceAll(/["\\]/g, '\\$&')}"` : text;
}

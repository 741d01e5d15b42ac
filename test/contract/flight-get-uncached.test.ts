import { expect, it } from 'vitest';
import { FlightClient } from '../support/flight-client.ts';
import { useFlightServer } from '../support/flight-server.ts';
import { putSql } from '../support/frames.ts';

const rows = 200_000;

const { server, client } = await useFlightServer(FlightClient, { settings: { 'storage.cache_size_gb': '0' } });

it('keeps the rows of downloads apart that go on at the same time, with memory that is used again', async () => {
  await putSql(
    server.frames,
    'wide',
    `SELECT range AS id, 'text of row ' || range AS text, range / 7 AS ratio, (range % 1000)::DECIMAL(9, 2) AS price FROM range(${rows})`,
  );
  for (let round = 0; round < 2; round++) {
    const tables = await Promise.all([0, 1, 2].map(() => client.getTable('wide')));
    for (const table of tables) {
      const ids = table.getChild('id')?.toArray() as BigInt64Array;
      const texts = table.getChild('text');
      const ratios = table.getChild('ratio')?.toArray() as Float64Array;
      expect(ids).toHaveLength(rows);
      expect(ids.findIndex((id, row) => id !== BigInt(row))).toBe(-1);
      expect(ratios.findIndex((ratio, row) => ratio !== row / 7)).toBe(-1);
      for (let row = 0; row < rows; row += 97) expect(texts?.get(row)).toBe(`text of row ${row}`);
    }
  }
});

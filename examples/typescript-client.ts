// Puts rows, asks SQL with parameters and appends, with the client for TypeScript (12 kB in a browser).
// Run: npm start, and npx tsx examples/typescript-client.ts; outside of a clone docs/guides/typescript.md installs the client.
// A server elsewhere: FRAMEHOLD_SERVER, FRAMEHOLD_TOKEN, or the section [client] of ~/.framehold/config.toml.
import { connect, FrameholdError } from '@framehold/client/node';

const db = connect();

await db.put(
  'example_prices',
  [
    { day: '2026-01-30', symbol: 'BTC', price: 71_039.35 },
    { day: '2026-01-31', symbol: 'ETH', price: 3_012.5 },
  ],
  { mode: 'overwrite', ttl: '1h' },
);

// Whole numbers of 64 bits come as bigint, so nothing is rounded.
const query = 'SELECT symbol, price FROM example_prices WHERE price > ? ORDER BY price';
for await (const { symbol, price } of db.sql<{ symbol: string; price: number }>(query, { params: [1000] })) {
  console.log(symbol, price);
}

// Each write resolves when its rows are on the disk. After a lost connection none is there twice.
await using prices = db.append('example_prices');
const { rows } = await prices.write([{ day: '2026-02-01', symbol: 'BTC', price: 71_044.5 }]);
console.log('appended', rows);

try {
  await db.sql('SELECT prise FROM example_prices').rows();
} catch (error) {
  if (!(error instanceof FrameholdError)) throw error;
  console.log(error.code, error.message);
}

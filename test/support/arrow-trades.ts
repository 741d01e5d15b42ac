import { batchMessage, endOfStream, i8, i16, i32, schemaMessage } from './arrow-stream-writer.ts';

const none = new Uint8Array(0);
const symbols = ['BTC-USDT', 'ETH-USDT', 'SOL-USDT', 'A-SYMBOL-LONGER-THAN-MOST'];

/** Trades as an Arrow stream: ts, symbol, side, price, amount and id, which counts from 0. */
export function* tradesStream(rows: number, batchRows: number): Generator<Uint8Array> {
  const int64 = [2, { 0: i32(64), 1: i8(1) }] as const;
  const float64 = [3, { 0: i16(2) }] as const;
  yield schemaMessage([
    { name: 'ts', type: [10, { 0: i16(2) }] },
    { name: 'symbol', type: [5, {}] },
    { name: 'side', type: [5, {}] },
    { name: 'price', type: float64 },
    { name: 'amount', type: float64 },
    { name: 'id', type: int64 },
  ]);
  for (let from = 0; from < rows; from += batchRows) yield tradesBatch(from, Math.min(batchRows, rows - from));
  yield endOfStream;
}

function tradesBatch(from: number, rows: number): Uint8Array {
  const longs = (value: (row: number) => number): Uint8Array =>
    new Uint8Array(BigInt64Array.from({ length: rows }, (_, index) => BigInt(value(from + index))).buffer);
  const doubles = (value: (row: number) => number): Uint8Array =>
    new Uint8Array(Float64Array.from({ length: rows }, (_, index) => value(from + index)).buffer);
  const texts = (value: (row: number) => string): Uint8Array[] => {
    const all = Array.from({ length: rows }, (_, index) => value(from + index));
    const offsets = new Int32Array(rows + 1);
    for (let row = 0; row < rows; row++) offsets[row + 1] = (offsets[row] as number) + (all[row] as string).length;
    return [new Uint8Array(offsets.buffer), Uint8Array.from(Buffer.from(all.join('')))];
  };
  return batchMessage({
    rows,
    nodes: Array.from({ length: 6 }, () => [rows, 0] as const),
    buffers: [
      none,
      longs((row) => 1_700_000_000_000_000 + row * 1000),
      none,
      ...texts((row) => symbols[row % symbols.length] as string),
      none,
      ...texts((row) => (row % 2 === 0 ? 'buy' : 'sell')),
      none,
      doubles((row) => row / 100),
      none,
      doubles((row) => row % 97),
      none,
      longs((row) => row),
    ],
  });
}

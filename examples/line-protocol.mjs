// Sends measurements as line protocol, each batch exactly once, also when an answer is lost and it is sent again.
// Run: npm start, and in another terminal: node examples/line-protocol.mjs [batches]
// A server elsewhere: FRAMEHOLD_SERVER=http://host:9000, and FRAMEHOLD_TOKEN where it needs one.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const server = process.env.FRAMEHOLD_SERVER ?? 'http://127.0.0.1:9000';
const token = process.env.FRAMEHOLD_TOKEN;
const batches = Number(process.argv[2] ?? 3);
// The server remembers the number of a producer's last batch, beside its rows.
const producer = { 'Producer-Id': randomUUID(), 'Producer-Epoch': '0' };

async function send(lines, sequence, tries = 5) {
  const headers = { ...producer, 'Producer-Seq': String(sequence), ...(token && { Authorization: `Bearer ${token}` }) };
  try {
    const response = await fetch(`${server}/write`, { method: 'POST', headers, body: lines.join('\n') });
    // 204: the rows are on the disk.
    if (response.status === 204) return;
    const text = await response.text();
    if (response.status < 500) throw Object.assign(new Error(text), { isFinal: true });
    throw new Error(text);
  } catch (error) {
    if (error.isFinal || tries <= 1) throw error;
    await sleep(500);
    await send(lines, sequence, tries - 1);
  }
}

for (let batch = 0; batch < batches; batch += 1) {
  const now = BigInt(Date.now()) * 1_000_000n;
  const line = (sensor, at) => `example_sensors,sensor=s${sensor} celsius=${20 + sensor},batch=${batch}i ${now + at}`;
  await send([line(1, 0n), line(2, 1n)], batch);
}
console.log(`sent ${batches} batches of 2 rows`);

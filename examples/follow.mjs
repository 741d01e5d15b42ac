// Prints the rows of a frame that grows, as they come: a long poll over HTTP, for a dashboard, an alert or a copy.
// Run: npm start, then node examples/follow.mjs [handle] [rows], and beside it: node examples/line-protocol.mjs
// A server elsewhere: FRAMEHOLD_SERVER=http://host:9000, and FRAMEHOLD_TOKEN where it needs one.
import { setTimeout as sleep } from 'node:timers/promises';

const server = process.env.FRAMEHOLD_SERVER ?? 'http://127.0.0.1:9000';
const token = process.env.FRAMEHOLD_TOKEN;
const handle = process.argv[2] ?? 'example_sensors';
const most = Number(process.argv[3] ?? Infinity);

// Keep `next` and `lineage` in a file to go on after a restart without a row lost or double.
let next = 0;
let lineage;
let seen = 0;

while (seen < most) {
  const query = new URLSearchParams({
    from: String(next),
    live: 'long-poll',
    wait: '30s',
    ...(lineage && { lineage }),
  });
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const response = await fetch(`${server}/handles/${handle}/rows?${query}`, { headers }).catch(() => undefined);
  if (response === undefined || response.status === 503 || response.status === 404) {
    // The server is not there or has too much to do, or nobody has made the frame yet.
    await sleep(200);
    continue;
  }
  // 410: the frame was dropped or replaced. Its row numbers mean other rows now.
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  for (const line of (await response.text()).split('\n').filter(Boolean)) {
    console.log(line);
    seen += 1;
  }
  next = Number(response.headers.get('next-row'));
  lineage = response.headers.get('lineage') ?? undefined;
}

// Plain JavaScript, so that nothing but Node runs in this process.
// `node bare-append-server.mjs <file> each|group`: every body is in the file, and the file on the disk, before its 204.
// `group`: bodies that come while a write is under way are made durable by the next one, together.
import { open } from 'node:fs/promises';
import { createServer } from 'node:http';

const [path, how] = process.argv.slice(2);
const file = await open(path, 'a');
const waiting = [];
let isWriting = false;

async function writeAll() {
  isWriting = true;
  while (waiting.length > 0) {
    const group = how === 'group' ? waiting.splice(0) : waiting.splice(0, 1);
    await file.writev(group.flatMap(({ pieces }) => pieces));
    await file.datasync();
    for (const { response } of group) response.writeHead(204).end();
  }
  isWriting = false;
}

const server = createServer((request, response) => {
  const pieces = [];
  request.on('data', (piece) => pieces.push(piece));
  request.on('end', () => {
    waiting.push({ pieces, response });
    if (!isWriting) void writeAll();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', 1024, () => console.log(`listening on ${server.address().port}`));
process.on('SIGTERM', () => process.exit());

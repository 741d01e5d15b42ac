// Plain JavaScript, so that nothing but Node runs in this process. `node bare-node-server.mjs <answer.json> <body> <port> memory|disk`
import { createReadStream, readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const [answerPath, bodyPath, port, place] = process.argv.slice(2);
const { headers } = JSON.parse(readFileSync(answerPath, 'utf8'));
const body = place === 'disk' ? undefined : readFileSync(bodyPath);

const server = createServer((_request, response) => {
  response.writeHead(200, headers);
  if (body === undefined) createReadStream(bodyPath).pipe(response);
  else response.end(body);
});
server.listen(Number(port), '127.0.0.1', 1024, () => {
  console.log(`listening on ${server.address().port}`);
});
process.on('SIGTERM', () => process.exit());

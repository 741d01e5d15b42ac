// Plain JavaScript, so that nothing but Node runs in this process.
// `node bare-node-server.mjs <answer.json> <body> <port> memory|disk [<certificate> <key>]`
import { createReadStream, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';

const [answerPath, bodyPath, port, place, certFile, keyFile] = process.argv.slice(2);
const { headers } = JSON.parse(readFileSync(answerPath, 'utf8'));
const body = place === 'disk' ? undefined : readFileSync(bodyPath);

const answer = (_request, response) => {
  response.writeHead(200, headers);
  if (body === undefined) createReadStream(bodyPath).pipe(response);
  else response.end(body);
};
const server =
  certFile === undefined
    ? createServer(answer)
    : createTlsServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) }, answer);
server.listen(Number(port), '127.0.0.1', 1024, () => {
  console.log(`listening on ${server.address().port}`);
});
process.on('SIGTERM', () => process.exit());

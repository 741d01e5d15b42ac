// Plain JavaScript, so that nothing but Node runs in this process. `node bare-http2-server.mjs <URL of a Flight server>`
import { connect, createServer } from 'node:http2';

const upstream = connect(process.argv[2]);
const answers = new Map();
/** The Flight SQL message of a request, by which alone requests are distinguished. */
const messageName = /\b(?:Action|Command|Ticket)\w+/;

const server = createServer();
server.on('stream', (stream, { ':path': path }) => {
  const chunks = [];
  stream.on('data', (chunk) => chunks.push(chunk));
  stream.on('end', () => {
    const request = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
    const kind = path + messageName.exec(request.toString('latin1'));
    const known = answers.get(kind);
    if (known !== undefined) return repeat(stream, known);
    ask(path, request).then(
      (answer) => {
        answers.set(kind, answer);
        repeat(stream, answer);
      },
      () => stream.destroy(),
    );
  });
});
server.listen(0, '127.0.0.1', () => console.log(`listening on ${server.address().port}`));
process.on('SIGTERM', () => process.exit());

function repeat(stream, { body, status }) {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': status }));
  stream.end(body);
}

function ask(path, request) {
  return new Promise((resolve, reject) => {
    const headers = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' };
    const stream = upstream.request(headers);
    const chunks = [];
    let status = '2';
    const take = (fields) => {
      status = fields['grpc-status'] ?? status;
    };
    stream.on('response', take).on('trailers', take).on('error', reject);
    stream.on('data', (chunk) => chunks.push(chunk));
    stream.on('end', () => resolve({ body: Buffer.concat(chunks), status }));
    stream.end(request);
  });
}

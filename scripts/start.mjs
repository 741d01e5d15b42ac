import { execFileSync } from 'node:child_process';
import { build, install, root } from './prepare.mjs';

if (!install() || !build()) process.exit(1);
// A SIGTERM to npm ends only the shell between npm and us; without this the server would stay behind.
const parent = process.ppid;
const watch = setInterval(() => {
  if (process.ppid === parent) return;
  clearInterval(watch);
  process.kill(process.pid, 'SIGTERM');
}, 250).unref();
// The server runs in this very process, so that signals reach it and its exit code is ours.
process.chdir(root);
const program = `${root}dist/main.js`;
const given = process.argv.slice(2);
const isClosed = given.includes('--auth');
const dataDir = isGiven('--data-dir') ? [] : ['--data-dir', '.demo'];
const flags = [...dataDir, ...given.filter((flag) => flag !== '--auth'), ...(isClosed ? ['--auth-enabled'] : [])];
if (isClosed) showWithBanner(makeToken());
process.argv = [process.execPath, program, 'server', '--demo', ...flags];
await import('../dist/main.js');

function isGiven(name) {
  return given.some((flag) => flag === name || flag.startsWith(`${name}=`));
}

/** Every start makes one, so they end soon. */
function makeToken() {
  const at = given.indexOf('--data-dir');
  const directory =
    at >= 0
      ? given[at + 1]
      : (given.find((flag) => flag.startsWith('--data-dir='))?.slice('--data-dir='.length) ?? '.demo');
  const create = ['token', 'create', '--role', 'operator', '--name', 'npm start', '--expires', '24h'];
  const args = [program, ...create, `--data-dir=${directory}`];
  return execFileSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
}

/** The banner shows the addresses, which the system may have chosen. */
function showWithBanner(token) {
  const { stdout } = process;
  const write = stdout.write;
  stdout.write = (text, ...rest) => {
    const isMore = write.call(stdout, text, ...rest);
    const [, http] = /^ {2}HTTP +(\S+)$/m.exec(String(text)) ?? [];
    const [, grpc] = /^ {2}gRPC +(\S+)$/m.exec(String(text)) ?? [];
    if (http === undefined || grpc === undefined) return isMore;
    stdout.write = write;
    return stdout.write(linesToTry(token, reachable(http), reachable(grpc)));
  };
}

function linesToTry(token, http, grpc) {
  const encryption = grpc.startsWith('grpc+tls:') ? '' : 'useEncryption=false&';
  const address = grpc.replace(/^.*\/\//, '');
  return `
This server takes only callers with a token. This one is an operator's, ends in 24 hours, and is shown once:
  ${token}
  curl  curl -H 'Authorization: Bearer ${token}' '${http}/exec?handle=trades&fmt=json&limit=3'
  ADBC  adbc_driver_flightsql.dbapi.connect('${grpc}', db_kwargs={'username': 'me', 'password': '${token}'})
  JDBC  jdbc:arrow-flight-sql://${address}?${encryption}user=me&password=${token}
`;
}

function reachable(address) {
  return address.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

import { Table, tableToIPC, Utf8, vectorFromArray } from 'apache-arrow';
import { byPath, FlightClient } from '../../support/flight-client.ts';
import { type Answer, ask } from '../../support/http-client.ts';
import { familyOf, residentBytesOf } from '../../support/process-facts.ts';
import { type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';

/** What a request may be refused with because of a size. */
const tooMuch: ReadonlySet<unknown> = new Set([
  'too_large',
  'invalid_input',
  'unsupported_type',
  'sql_out_of_memory',
  'sql_error',
  'overloaded',
]);

/** C3: frames of no rows, of one enormous value, of thousands of columns. */
export const extremeSizes: Scenario = {
  id: 'C3',
  promise: 'nothing at all, one enormous value and thousands of columns are held or refused clearly, in bounded memory',
  rounds: { ci: 0, release: 3 },
  secondsPerRound: 150,
  async run({ rounds, size, progress }: Trial) {
    const textBytes = (size === 'release' ? 500 : 5) * 1_000_000;
    const columns = size === 'release' ? 10_000 : 500;
    let [held, refused, peakBytes] = [0, 0, 0];
    for (let round = 0; round < rounds; round++) {
      await using directory = await temporaryDirectory();
      await using server = await spawnFramehold({ dataDir: directory.path });
      const watch = setInterval(() => {
        const sum = familyOf(server.pid).reduce((bytes, pid) => bytes + residentBytesOf(pid), 0);
        peakBytes = Math.max(peakBytes, sum);
      }, 100);
      try {
        await nothing(server);
        progress('no rows');
        for (const outcome of [...(await enormousText(server, textBytes)), ...(await manyColumns(server, columns))]) {
          if (outcome) held++;
          else refused++;
        }
      } finally {
        clearInterval(watch);
      }
      const ping = await ask(`${server.url}/exec?handle=empty&fmt=json`);
      promised(ping.status === 200 && !server.hasExited(), 'the server goes on');
    }
    // Text is held at most in the child that reads it, in the pipe and in the answer, a few times each.
    const bound = 2.5e9 + 12 * textBytes;
    promised(peakBytes < bound, `memory stays below ${bound} bytes`, peakBytes);
    return { 'text bytes': textBytes, columns, held, refused, 'peak MB': Math.round(peakBytes / 1e6) };
  },
};

async function nothing(server: SpawnedFramehold): Promise<void> {
  const { url, grpcPort } = server;
  const noRows = await ask(`${url}/imp?name=empty&schema=a%20LONG&header=true`, { method: 'POST', body: 'a\n' });
  promised(noRows.status === 200 && noRows.json().rowsImported === 0, 'a frame of no rows is held', noRows.text);
  const exec = await ask(`${url}/exec?handle=empty&fmt=json`);
  promised(JSON.stringify(exec.json().dataset) === '[]', 'and gives none', exec.text);
  for (const fmt of ['csv', 'parquet', 'arrow', 'ndjson']) {
    const file = await ask(`${url}/exp?handle=empty&fmt=${fmt}`);
    promised(file.status === 200, `nor does ${fmt}`, file.text.slice(0, 200));
  }
  const count = await ask(`${url}/exec?query=select+count(*)+from+empty&engine=local&fmt=json`);
  promised(JSON.stringify(count.json().dataset) === '[[0]]', 'nor does SQL', count.text);
  using client = new FlightClient(grpcPort);
  promised((await client.getTable('empty')).numRows === 0, 'nor does DoGet');
  for (const body of ['', '\n', '{}', '[]']) {
    const refused = await ask(`${url}/imp?name=none`, { method: 'POST', body });
    promised(refused.status === 400, `a body of ${JSON.stringify(body)} is refused`, refused.text);
  }
  const noColumns = await client.put(byPath('none'), tableToIPC(new Table(), 'stream'));
  promised(noColumns.code === 'invalid_input', 'a frame of no columns is refused', noColumns.status);
  promised((await ask(`${url}/exec?handle=none&fmt=json`)).status === 404, 'and not held');
}

/** In and out through each door; true where it worked, false where it was refused clearly. */
async function enormousText(server: SpawnedFramehold, bytes: number): Promise<boolean[]> {
  const { url, grpcPort } = server;
  const text = 'x'
    .repeat(1023)
    .concat('\u{1f980}')
    .repeat(Math.floor(bytes / 1027));
  const outcomes: boolean[] = [];
  using client = new FlightClient(grpcPort);
  outcomes.push(isHeld(await ask(`${url}/imp?name=csv&format=csv`, { method: 'POST', body: `text\n"${text}"\n` })));
  const json = Buffer.from(`{"text":"${text}"}\n`);
  outcomes.push(isHeld(await ask(`${url}/imp?name=json&format=ndjson`, { method: 'POST', body: json })));
  const ipc = tableToIPC(new Table({ text: vectorFromArray([text], new Utf8()) }), 'stream');
  outcomes.push(isHeld(await ask(`${url}/imp?name=arrow&format=arrow`, { method: 'POST', body: ipc })));
  const put = await client.put(byPath('put'), ipc);
  promised(put.status.code === 0 || tooMuch.has(put.code), 'DoPut of a large text works or is refused', put.status);
  outcomes.push(put.status.code === 0);
  for (const handle of ['csv', 'json', 'arrow', 'put'].filter((_, index) => outcomes[index])) {
    outcomes.push(...(await readText(url, client, handle, text)));
  }
  return outcomes;
}

async function readText(url: string, client: FlightClient, handle: string, text: string): Promise<boolean[]> {
  const outcomes: boolean[] = [];
  const wanted = Buffer.from(text);
  const targets = [
    `exec?handle=${handle}&fmt=json`,
    `exp?handle=${handle}&fmt=csv`,
    `exec?query=select+*+from+${handle}&engine=local&fmt=json`,
  ];
  for (const target of targets) {
    const answer = await askForBytes(`${url}/${target}`);
    outcomes.push(answer.status === 200);
    const code = answer.status === 200 ? undefined : codeIn(answer.body);
    promised(
      answer.status === 200 ? answer.body.includes(wanted) : tooMuch.has(code),
      `${target} gives the text`,
      code,
    );
  }
  const got = await client.get(handle);
  const isWhole = got.messages.some(({ dataBody }) => Buffer.from(dataBody ?? []).includes(wanted));
  promised(got.status.code === 0 ? isWhole : tooMuch.has(got.code), `DoGet of ${handle} gives the text`, got.status);
  outcomes.push(got.status.code === 0);
  const length = await ask(`${url}/exec?query=select+length(text)+from+${handle}&engine=local&fmt=json`);
  promised(length.status === 200 || tooMuch.has(length.json().code), 'SQL reads it', length.text.slice(0, 300));
  return [...outcomes, length.status === 200];
}

async function manyColumns({ url, grpcPort }: SpawnedFramehold, columns: number): Promise<boolean[]> {
  const names = Array.from({ length: columns }, (_, i) => `c${i}`);
  const body = `${names.join()}\n${names.map((_, i) => i).join()}\n`;
  const outcomes = [isHeld(await ask(`${url}/imp?name=wide&format=csv`, { method: 'POST', body }))];
  using client = new FlightClient(grpcPort);
  const value = vectorFromArray(['1'], new Utf8());
  const table = new Table(Object.fromEntries(names.map((name) => [name, value])));
  const put = await client.put(byPath('wide_put'), tableToIPC(table, 'stream'));
  promised(put.status.code === 0 || tooMuch.has(put.code), 'DoPut of many columns works or is refused', put.status);
  outcomes.push(put.status.code === 0);
  for (const handle of ['wide', 'wide_put'].filter((_, index) => outcomes[index])) {
    const answer = await ask(`${url}/exec?handle=${handle}&fmt=json`);
    const found = answer.json() as { columns: unknown[]; dataset: unknown[][] };
    promised(found.columns.length === columns && found.dataset[0]?.length === columns, `${handle} is whole`);
    const sql = await ask(`${url}/exec?query=select+c${columns - 1}+from+${handle}&engine=local&fmt=json`);
    promised(sql.status === 200 || tooMuch.has(sql.json().code), 'SQL reads the last column', sql.text.slice(0, 300));
    outcomes.push(sql.status === 200);
  }
  return outcomes;
}

function isHeld(answer: Answer): boolean {
  if (answer.status === 200) return true;
  promised(tooMuch.has(answer.json().code), 'what is too large is refused as such', answer.text.slice(0, 500));
  return false;
}

/** Its text might be longer than a string can be; `text` of the answer is not touched. */
async function askForBytes(url: string): Promise<{ readonly status: number; readonly body: Buffer }> {
  const response = await fetch(url);
  return { status: response.status, body: Buffer.from(await response.arrayBuffer()) };
}

function codeIn(body: Buffer): unknown {
  return (JSON.parse(body.toString()) as { code?: string }).code;
}

import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ask } from '../../support/http-client.ts';
import { runCommand } from '../../support/spawned-command.ts';
import { spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import type { Address } from '../harness/doors.ts';
import type { Random } from '../harness/random.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { until } from '../harness/until.ts';
import { ChangedFrames } from './changed-frames.ts';
import { pieces, rowCount } from './column-case.ts';
import { Comparison, type Frame, inLanes } from './comparison.ts';
import { foreignFrames } from './foreign-files.ts';
import { putFrame, sql } from './put-doors.ts';
import { Reference } from './reference.ts';
import { rowsOf, type TableCase, tableCases } from './table-case.ts';

/** As many columns as the frames of one set of servers have. */
const batch = 200;
/** Merged when nothing has come for half a minute. */
const mergedParts = 10;
const mergedFrames = 2;
/** Of the questions, in states that have the files of another one. */
const shareAgain = 0.2;
/** At every door after a restart. */
const framesReadAgain = 4;
const withinMs = 300_000;
/** SQL reads files, never copies of them. */
const withoutCopies = ['--cache-size', '0'];
/** The least that is done in the background. */
const quickly = ['--compression-level', '4'];

/** D8: the same questions about the same rows, in every state that the files of a frame can have. */
export const rightAnswers: Scenario = {
  id: 'D8',
  promise: 'rows of every type are found and read bit for bit in every state of their files, whoever wrote them',
  // In CI each kind of column is in at least one table.
  rounds: { ci: 112, release: 10_000 },
  secondsPerRound: 2,
  needs: ['python'],
  async run({ rounds, random, progress }: Trial) {
    const figures = { columns: rounds, answers: 0, wrong: 0 };
    for (let done = 0; done < rounds; done += batch) {
      figures.answers += await compare(random.fork(), Math.min(batch, rounds - done), done);
      progress(`${done + batch} columns, ${figures.answers} answers`);
    }
    return figures;
  },
};

async function compare(random: Random, columns: number, done: number): Promise<number> {
  const tables = tableCases(random, columns, done);
  await using directory = await temporaryDirectory();
  await using reference = await Reference.open(tables);
  const comparison = new Comparison(reference, random);
  const changed = new ChangedFrames(tables, reference, comparison);
  const [dataDir, restored, outside] = ['data', 'restored', 'outside'].map((name) => join(directory.path, name));
  promised(dataDir !== undefined && restored !== undefined && outside !== undefined, 'there are folders');
  await mkdir(outside);
  const frames: Frame[] = [];
  const merged: Frame[] = [];
  {
    await using server = await spawnFramehold({ dataDir, flags: [...withoutCopies, ...quickly] });
    const inParts = tables.filter(({ doors }) => doors.includes('createTable')).slice(0, mergedFrames);
    for (const table of inParts)
      merged.push({ name: `${table.name}_merged`, table, meant: table.name, columns: table.columns });
    // Before the others: they wait for long.
    await inLanes(
      merged.map(
        ({ name, table }) =>
          () =>
            putParts(server, table, name),
      ),
    );
    const puts = tables.flatMap((table) => table.doors.map((door) => ({ table, door, name: `${table.name}_${door}` })));
    await inLanes(
      puts.map(({ table, door, name }) => async () => {
        const meant = await putFrame(door, { to: server, table, frame: name, reference });
        frames.push({ name, table, meant, columns: table.columns });
      }),
    );
    await changed.make(server);
    await comparison.ask(server, 'just put', frames);
    for (const { name } of frames) await flush(server, name);
    for (const table of tables.filter(({ isFromOutside }) => isFromOutside)) {
      const { body } = await sql(server, rowsOf(table), 'arrow');
      await writeFile(join(outside, `${table.name}.arrow`), body);
    }
    await changed.write(server, outside);
    const names = [...frames.map(({ name }) => name), ...changed.names];
    await until('the files are compressed', withinMs, () => areCompressed(dataDir, names));
    await Promise.all([
      comparison.ask(server, 'compressed', frames, 0.5),
      comparison.readAtDoors(server, 'compressed', frames.filter(isReadable)),
      changed.run(server, 'compressed'),
    ]);
    await until('the parts are merged', withinMs, () =>
      areCompressed(
        dataDir,
        merged.map(({ name }) => name),
        1,
      ),
    );
    await comparison.ask(server, 'merged', merged);
    await comparison.readAtDoors(server, 'merged', merged.filter(isReadable));
  }
  await backUpAndRestore(dataDir, restored, directory.path);
  const foreign = await foreignFrames(tables, outside, reference);
  for (const name of [
    ...foreign.frames.map((frame) => frame.name),
    ...[...foreign.changed.values()].map(({ frame }) => frame),
  ]) {
    await copyFile(join(outside, `${name}.parquet`), join(restored, 'cold', `${name}.parquet`));
  }
  {
    await using server = await spawnFramehold({ dataDir: restored, flags: withoutCopies });
    await comparison.ask(server, 'restored', [...frames, ...merged], shareAgain);
    await comparison.ask(server, 'from outside', foreign.frames, 0.4);
    await changed.run(server, 'from outside', foreign.changed);
  }
  {
    await using server = await spawnFramehold({ dataDir });
    await comparison.ask(server, 'restarted', frames, shareAgain);
    await until('the frames are copied for SQL', withinMs, () => areCopied(server, frames.length));
    await comparison.ask(server, 'copied', frames);
    await comparison.readAtDoors(server, 'restarted', frames.filter(isReadable).slice(0, framesReadAgain));
  }
  comparison.check();
  return comparison.asked;
}

/** Not those of lines, which have a column more and theirs in another order. */
function isReadable({ table, meant }: Frame): boolean {
  return meant === table.name && !table.doors.includes('lines');
}

async function backUpAndRestore(dataDir: string, restored: string, cwd: string): Promise<void> {
  const backups = join(cwd, 'backups');
  await mkdir(backups);
  const backup = await runCommand(['backup', backups, '--data-dir', dataDir], { cwd });
  promised(backup.status === 0, 'a backup is made', backup);
  const path = backup.stdout.split(': ')[0] ?? '';
  const restore = await runCommand(['restore', path, '--data-dir', restored], { cwd });
  promised(restore.status === 0, 'a backup is restored', restore);
}

async function areCopied(server: Address, count: number): Promise<boolean> {
  const metric = await metricsOf(server);
  return (
    metric('framehold_duckdb_jobs_total{pool="copies"}') >= count &&
    metric('framehold_duckdb_workers{pool="copies",state="busy"}') === 0
  );
}

async function metricsOf({ url }: Address): Promise<(name: string) => number> {
  const { text } = await ask(`${url}/metrics`);
  return (name) => Number(text.split(`\n${name} `)[1]?.split('\n')[0]);
}

async function flush({ url }: Address, name: string): Promise<void> {
  const { status, text } = await ask(`${url}/handles/${name}/flush`, { method: 'POST' });
  promised(status === 200, `${name} is flushed`, text);
}

/** RETURNING makes a part of each INSERT. */
async function putParts(server: Address, table: TableCase, name: string): Promise<void> {
  const rows = Math.ceil(rowCount / mergedParts);
  for (let from = 0; from < rowCount; from += rows) {
    const some = rowsOf(table, { from, to: Math.min(rowCount, from + rows) });
    const statement = from === 0 ? `CREATE TABLE ${name} AS ${some}` : `INSERT INTO ${name} ${some} RETURNING i`;
    const { status, text } = await sql(server, statement);
    promised(status === 200, `${statement.slice(0, 200)} is done`, text);
  }
}

/** Whether nothing of these frames is left to compress, and they have so many parts at most. */
async function areCompressed(
  dataDir: string,
  names: readonly string[],
  parts: number = pieces.length,
): Promise<boolean> {
  const folder = join(dataDir, 'cold', '.framehold', 'manifests');
  const texts = await Promise.all(names.map((name) => readFile(join(folder, `${name}.json`), 'utf8')));
  return texts.every((text) => !text.includes('"final":false') && text.split('"final":').length <= parts + 1);
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { clusterVenv, needJava } from './cluster-venv.ts';

/** What Spark's own parser makes of a statement. */
export type SparkReading = { readonly tables: readonly string[] } | { readonly error: string };

export interface SparkParser extends AsyncDisposable {
  /** All that Spark itself has. */
  readonly functions: readonly string[];
  read(sql: string): Promise<SparkReading>;
}

const program = fileURLToPath(new URL('spark-parser.py', import.meta.url));

/** Throws Missing. */
export async function startSparkParser(): Promise<SparkParser> {
  await needJava();
  const { python } = await clusterVenv();
  const child = spawn(python, [program], { stdio: ['pipe', 'pipe', 'ignore'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const answer = async (): Promise<unknown> => {
    const { value, done } = await lines.next();
    if (done) throw new Error('Spark’s parser has ended');
    return JSON.parse(value);
  };
  return {
    functions: (await answer()) as readonly string[],
    async read(sql) {
      child.stdin.write(`${JSON.stringify(sql)}\n`);
      return (await answer()) as SparkReading;
    },
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit');
      child.stdin.end();
      await ended;
    },
  };
}

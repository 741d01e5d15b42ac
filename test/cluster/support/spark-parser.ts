import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { clusterVenv, needJava } from './cluster-venv.ts';

/** What Spark's own parser makes of a statement. */
export type SparkReading =
  | {
      /** Without names of WITH. */
      readonly tables: readonly string[];
      /** Those that are called by a name, in lower case. */
      readonly functions: readonly string[];
      readonly isCommand: boolean;
      /** Classes of all nodes of the plan. */
      readonly kinds: readonly string[];
    }
  | { readonly error: string };

export interface SparkParser extends AsyncDisposable {
  /** All that Spark itself has. */
  readonly functions: readonly string[];
  /** `settings`: of Spark, for this statement only. */
  read(sql: string, settings?: Readonly<Record<string, string>>): Promise<SparkReading>;
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
    async read(sql, settings = {}) {
      child.stdin.write(`${JSON.stringify({ sql, settings })}\n`);
      return (await answer()) as SparkReading;
    },
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit');
      child.stdin.end();
      await ended;
    },
  };
}

import { execFileSync } from 'node:child_process';
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { completion } from './completion.ts';
import type { Environment } from './framework/environment.ts';

async function script(shell: string): Promise<string> {
  let text = '';
  const stdout = new Writable({
    write: (chunk, _, done) => {
      text += chunk;
      done();
    },
  });
  await completion({ stdout } as Partial<Environment> as Environment, { operands: [shell], flags: {} });
  return text;
}

/** The completions of bash for the last of these words. */
async function offered(...words: string[]): Promise<string[]> {
  const quoted = words.map((word) => `'${word}'`).join(' ');
  const program = `framehold() { printf 'trades\\t1\\nquotes\\t2\\n'; }
${await script('bash')}
COMP_WORDS=(framehold ${quoted}); COMP_CWORD=${words.length}; _framehold; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['-c', program], { encoding: 'utf8' }).split('\n').filter(Boolean);
}

describe('bash offers', () => {
  it.each([
    [['p'], ['put', 'ping']],
    [['put', '--ov'], ['--overwrite']],
    [['get', 'x', '--format', 'p'], ['parquet']],
    [
      ['sql', '--format', 't'],
      ['table', 'tsv'],
    ],
    [['get', 't'], ['trades']],
    [['sql', '--engine', 't'], ['trades']],
    [['sql', '--engine', 'a'], ['auto']],
    [['server', '--grpc-p'], ['--grpc-port']],
    [['completion', 'z'], ['zsh']],
    [['put', 'x'], []],
    [['get', 'trades', '-o', 't'], []],
  ])('%j', async (words, expected) => {
    expect(await offered(...words)).toEqual(expected);
  });
});

it.each(['zsh', 'fish'])('%s is told of every command', async (shell) => {
  const text = await script(shell);
  for (const name of ['server', 'put', 'get', 'ls', 'info', 'rm', 'sql', 'engines', 'ping', 'completion']) {
    expect(text).toContain(name);
  }
});

import { parseArgs } from 'node:util';

export interface BenchArguments {
  readonly help: boolean;
  readonly quick: boolean;
  readonly jsonPath: string | undefined;
  /** Names of cases, those that a beginning stands for among them; none = all. */
  readonly names: readonly string[];
}

export const usage = `Usage: npm run bench -- [--quick] [--json FILE] [CASE …]

  --quick      one short round: shows that everything runs; its figures mean nothing
  --json FILE  where the results go (default: a new file in bench/results)
  CASE         only these cases; the first words of several names stand for all of them: tpch
`;

export function parseArguments(argv: readonly string[], known: readonly string[]): BenchArguments {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      quick: { type: 'boolean', default: false },
      json: { type: 'string' },
    },
  });
  const names = positionals.flatMap((given) => {
    const meant = known.filter((name) => name === given || name.startsWith(`${given}-`));
    if (meant.length === 0) throw new Error(`no case ${given}; there are ${known.join(', ')}`);
    return meant;
  });
  return { help: values.help, quick: values.quick, jsonPath: values.json, names };
}

import { parseArgs } from 'node:util';

export interface BenchArguments {
  readonly help: boolean;
  readonly quick: boolean;
  /** No measurement: writes the report of earlier ones. */
  readonly report: boolean;
  readonly jsonPath: string | undefined;
  /** Names of cases, with prefixes expanded; none = all. */
  readonly names: readonly string[];
}

export const usage = `Usage: npm run bench -- [--quick] [--json FILE] [CASE …]
       npm run bench -- --report [--quick]

  --quick      one short round: shows that everything runs; its figures mean nothing
  --json FILE  where the results go (default: a new file in bench/results)
  --report     measures nothing: draws bench/plots and writes the figures of docs/guides/performance.md, from the newest results of
               one commit in bench/results; with --quick from those of quick runs, into bench/results/quick
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
      report: { type: 'boolean', default: false },
    },
  });
  const names = positionals.flatMap((given) => {
    const meant = known.filter((name) => name === given || name.startsWith(`${given}-`));
    if (meant.length === 0) throw new Error(`no case ${given}; there are ${known.join(', ')}`);
    return meant;
  });
  return { help: values.help, quick: values.quick, report: values.report, jsonPath: values.json, names };
}

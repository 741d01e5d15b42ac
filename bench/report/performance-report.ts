import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Series } from '../harness/rounds.ts';
import type { BarReport, CaseReport, ReportRow } from './case-report.ts';
import { formatValue } from './case-table.ts';
import { type Plot, plotsOf } from './plots.ts';
import { newestOfOneCommit, type Results, readResults, resultsFolder } from './results.ts';

const plotsFolder = fileURLToPath(new URL('../plots', import.meta.url));
const pagePath = fileURLToPath(new URL('../../docs/guides/performance.md', import.meta.url));
const begin = '<!-- figures: npm run bench -- --report -->';
const end = '<!-- end of figures -->';

/**
 * Draws bench/plots and writes the figures of docs/guides/performance.md from the newest results of one commit. Quick runs, whose
 * figures mean nothing, go to bench/results/quick. Resolves with a description of the written files.
 */
export async function writeReport(order: readonly string[], { quick }: { readonly quick: boolean }): Promise<string> {
  const results = newestOfOneCommit(await readResults(), { quick });
  if (results === undefined) throw new Error(`there is no ${quick ? 'quick ' : ''}run in bench/results`);
  const cases = [...results.cases].sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
  const missing = order.filter((name) => !cases.some((report) => report.name === name));
  const plots = plotsOf(cases);
  const folder = quick ? join(resultsFolder, 'quick') : plotsFolder;
  await mkdir(folder, { recursive: true });
  for (const { name, svg } of plots) await writeFile(join(folder, `${name}.svg`), svg);
  const section = figures({ ...results, cases }, missing, plots, quick ? '.' : '../../bench/plots');
  const path = quick ? join(folder, 'performance.md') : pagePath;
  await writeFile(path, quick ? section : withFigures(await readFile(pagePath, 'utf8'), section));
  return `${path}: ${cases.length} cases of ${results.machine.commit}, ${plots.length} plots in ${folder}`;
}

/** The page with another text between its two marks. */
export function withFigures(page: string, section: string): string {
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from < 0 || to < from) throw new Error(`the page has no place for figures: ${begin} … ${end}`);
  return `${page.slice(0, from)}${begin}\n\n${section}\n${page.slice(to)}`;
}

/** The figures of one run as Markdown. */
export function figures(
  { at, quick, machine, cases }: Results,
  missing: readonly string[],
  plots: readonly Pick<Plot, 'name' | 'caption'>[],
  plotsPath: string,
): string {
  const { cpu, cores, memoryBytes, node, commit, loadAverage } = machine;
  return [
    `Measured on ${at.slice(0, 10)} at commit \`${commit}\`: ${cpu}, ${cores} cores, ${Math.round(memoryBytes / 1e9)} GB of memory, Node ${node}; load average before the run ${loadAverage.toFixed(1)}.`,
    '',
    ...plots.flatMap(({ name, caption }) => [
      `![${caption.replaceAll('`', '')}](${plotsPath}/${name}.svg)`,
      '',
      caption,
      '',
    ]),
    '| case | Framehold | others | against the bar | reached |',
    '|---|---|---|---|---|',
    ...cases.map((report) => caseLine(report, quick)),
    '',
    ...(missing.length === 0 ? [] : [`Not in this run: ${missing.map((name) => `\`${name}\``).join(', ')}.`, '']),
  ].join('\n');
}

function caseLine(report: CaseReport, quick: boolean): string {
  const { name, unit, rows, series, bars } = report;
  const cells = rows.map((row, at) => ({ isOurs: isOurs(row), text: rowText(row, series[at], report) }));
  const ours = cells.filter((cell) => cell.isOurs).map(({ text }) => text);
  const others = cells.filter((cell) => !cell.isOurs).map(({ text }) => text);
  return `| ${[
    `\`${name}\` (${unit})`,
    ours.join('<br>'),
    others.join('<br>') || '–',
    bars.map((bar) => barText(bar, report)).join('<br>') || '–',
    bars.map((bar) => reachedText(bar, quick)).join('<br>') || '–',
  ].join(' | ')} |`;
}

function isOurs({ who }: ReportRow): boolean {
  return who === 'framehold' || who.startsWith('framehold, ');
}

/** The value, and the processor time of a request, or of all rounds where nothing counts requests. */
function rowText({ who, value, cpuSeconds }: ReportRow, series: Series | undefined, { unit }: CaseReport): string {
  const requests = (series?.readings ?? []).reduce((sum, { details }) => sum + (details.requests ?? 0), 0);
  const cpu =
    requests > 0 ? `CPU ${((cpuSeconds * 1000) / requests).toFixed(2)} ms a request` : `CPU ${cpuSeconds.toFixed(1)} s`;
  const label = who === 'framehold' ? '' : `${who.replace(/^framehold, /, '')}: `;
  return `${label}${formatValue(value, unit)}${cpuSeconds > 0 ? ` (${cpu})` : ''}`;
}

function barText({ bar, found }: BarReport, { unit, better }: CaseReport): string {
  const number = (value: number | undefined): string => (value === undefined ? '?' : formatValue(value, unit));
  switch (bar.kind) {
    case 'ratio': {
      const of = bar.of === undefined ? '' : `${bar.of.replace(/^framehold, /, '')}: `;
      const ratio = (value: number | undefined): string => (value === undefined ? '?' : value.toFixed(2));
      if (better === 'higher' || bar.atLeast > 1) {
        return `${of}${ratio(found)} × the speed of ${bar.against} (≥ ${ratio(bar.atLeast)})`;
      }
      return `${of}${ratio(found && 1 / found)} × the ${unit === 'MB' ? 'memory' : 'time'} of ${bar.against} (≤ ${ratio(1 / bar.atLeast)})`;
    }
    case 'ceiling':
      return `${bar.of.replace(/^framehold(, )?/, '')} ≤ ${number(bar.atMost)} ${unit}`.trim();
    case 'floor':
      return `${bar.of.replace(/^framehold(, )?/, '')} ≥ ${number(bar.atLeast)} ${unit}`.trim();
    case 'margin':
      return `${number(found)} ${unit} more than ${bar.over.replace(/^framehold, /, '')} (≤ ${number(bar.atMost)})`;
    default:
      return bar satisfies never;
  }
}

function reachedText({ reached }: BarReport, quick: boolean): string {
  if (quick || reached === undefined) return 'not judged';
  return reached ? 'yes' : '**no**';
}

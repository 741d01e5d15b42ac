import type { CumulativeCounts, Exemplar } from './latency-histogram.ts';
import type { Figures, Metric } from './metric.ts';

/** The text of Prometheus before OpenMetrics, which everything can read, or OpenMetrics. */
export type ExpositionFormat = 'text' | 'openmetrics';

const units = ['seconds', 'bytes', 'ratio'];

/** The figures of all metrics, one line for each number. */
export function exposition<Sources>(
  metrics: readonly Metric<Sources>[],
  sources: Sources,
  format: ExpositionFormat,
): string {
  const lines: string[] = [];
  for (const metric of metrics) {
    const samples = [...samplesOf(metric, sources, format)];
    if (samples.length > 0) lines.push(...headOf(metric, format), ...samples);
  }
  if (format === 'openmetrics') lines.push('# EOF');
  return `${lines.join('\n')}\n`;
}

function headOf({ name, kind, help }: Metric<never>, format: ExpositionFormat): string[] {
  const family = kind === 'counter' && format === 'text' ? `${name}_total` : name;
  const unit = units.find((each) => name.endsWith(`_${each}`));
  return [
    `# TYPE ${family} ${kind}`,
    ...(format === 'openmetrics' && unit !== undefined ? [`# UNIT ${family} ${unit}`] : []),
    `# HELP ${family} ${format === 'openmetrics' ? quoted(help) : escaped(help)}`,
  ];
}

function* samplesOf<Sources>(metric: Metric<Sources>, sources: Sources, format: ExpositionFormat): Generator<string> {
  const { name, labels } = metric;
  if (metric.kind === 'histogram') {
    const bounds = [...metric.limitsMs.map((ms) => String(ms / 1000)), '+Inf'];
    for (const [values, histogram] of metric.read(sources).entries()) {
      yield* bucketLines(name, labelsText(labels, values), bounds, histogram.cumulative(metric.limitsMs), format);
    }
    return;
  }
  const sample = metric.kind === 'counter' ? `${name}_total` : name;
  for (const [values, value] of numbersOf(metric.read(sources))) {
    const text = labelsText(labels, values);
    yield `${sample}${text === '' ? '' : `{${text}}`} ${numberText(value)}`;
  }
}

function numbersOf(figures: Figures): Iterable<readonly [readonly string[], number]> {
  if (figures === undefined) return [];
  return typeof figures === 'number' ? [[[], figures]] : figures;
}

function* bucketLines(
  name: string,
  labels: string,
  bounds: readonly string[],
  { sumMs, counts, exemplars }: CumulativeCounts,
  format: ExpositionFormat,
): Generator<string> {
  const before = labels === '' ? '' : `${labels},`;
  for (const [index, bound] of bounds.entries()) {
    // Only OpenMetrics has a place for them.
    const exemplar = format === 'openmetrics' ? exemplars[index] : undefined;
    yield `${name}_bucket{${before}le="${bound}"} ${counts[index]}${exemplar === undefined ? '' : exemplarText(exemplar)}`;
  }
  const only = labels === '' ? '' : `{${labels}}`;
  yield `${name}_sum${only} ${numberText(sumMs / 1000)}`;
  yield `${name}_count${only} ${counts.at(-1)}`;
}

function exemplarText({ traceId, ms, atMs }: Exemplar): string {
  const unixSeconds = (performance.timeOrigin + atMs) / 1000;
  return ` # {trace_id="${traceId}"} ${numberText(ms / 1000)} ${unixSeconds.toFixed(3)}`;
}

function labelsText(names: readonly string[], values: readonly string[]): string {
  return names.map((name, index) => `${name}="${quoted(values[index] ?? '')}"`).join(',');
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function quoted(text: string): string {
  return escaped(text).replaceAll('"', '\\"');
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}

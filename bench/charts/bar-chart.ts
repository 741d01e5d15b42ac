import { legendOf } from './legend.ts';
import { chartWidth, element, seriesClass, shortNumber, svgDocument, textElement } from './svg.ts';

export interface BarGroup {
  readonly name: string;
  readonly bars: readonly { readonly name: string; readonly value: number }[];
}

export interface BarChart {
  readonly title: string;
  readonly unit: string;
  /** Each has a scale of its own, up to its longest bar. */
  readonly groups: readonly BarGroup[];
}

const left = 16;
const valueWidth = 110;
const barHeight = 18;
const barStep = 22;
const groupGap = 40;

/** A file of SVG: groups of horizontal bars, each with its value. */
export function barChart({ title, unit, groups }: BarChart): string {
  const names = [...new Set(groups.flatMap(({ bars }) => bars.map(({ name }) => name)))];
  const legend = legendOf(names, 50, 'area');
  const body = [...legend.body];
  let y = legend.bottom + 18;
  for (const { name, bars } of groups) {
    body.push(textElement(name, { x: left, y }));
    const longest = Math.max(...bars.map(({ value }) => value));
    y += 8;
    for (const { name: who, value } of bars) {
      const width = Math.max(1, ((chartWidth - left - valueWidth) * value) / longest);
      body.push(
        element('rect', { class: `area ${seriesClass(names.indexOf(who))}`, x: left, y, width, height: barHeight }),
        textElement(`${shortNumber(value)} ${unit}`, { x: left + width + 6, y: y + barHeight - 5 }),
      );
      y += barStep;
    }
    y += groupGap - barStep + 8;
  }
  const summary = groups
    .map(
      ({ name, bars }) => `${name}: ${bars.map((bar) => `${bar.name} ${shortNumber(bar.value)} ${unit}`).join(', ')}`,
    )
    .join('; ');
  return svgDocument(title, summary, y, body);
}

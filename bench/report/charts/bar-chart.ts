import { chartWidth, element, seriesClass, shortNumber, svgDocument, textElement } from './svg.ts';

export interface BarGroup {
  readonly name: string;
  readonly bars: readonly {
    readonly name: string;
    readonly value: number /** Number of its colour. */;
    readonly look: number;
  }[];
}

export interface BarChart {
  readonly title: string;
  readonly unit: string;
  /** Each has a scale of its own, up to its longest bar. */
  readonly groups: readonly BarGroup[];
}

const left = 16;
const wordsWidth = 240;
const barHeight = 18;
const barStep = 22;
const groupGap = 40;

/** A file of SVG: groups of horizontal bars, each with its value and name. */
export function barChart({ title, unit, groups }: BarChart): string {
  const body: string[] = [];
  let y = 56;
  for (const { name, bars } of groups) {
    body.push(textElement(name, { x: left, y }));
    const longest = Math.max(...bars.map(({ value }) => value));
    y += 8;
    for (const { name: who, value, look } of bars) {
      const width = Math.max(1, ((chartWidth - left - wordsWidth) * value) / longest);
      body.push(
        element('rect', { class: `area ${seriesClass(look)}`, x: left, y, width, height: barHeight }),
        textElement(`${shortNumber(value)} ${unit} ${who}`, { x: left + width + 6, y: y + barHeight - 5 }),
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

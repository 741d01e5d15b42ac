import { characterWidth, chartWidth, element, seriesClass, textElement } from './svg.ts';

const lineHeight = 20;
const sampleWidth = 26;
const gap = 18;
const left = 16;

export interface Legend {
  readonly body: readonly string[];
  /** Below its last line. */
  readonly bottom: number;
}

/** Names with a sample of each, in as many lines as they need. */
export function legendOf(names: readonly string[], top: number, sample: 'line' | 'area'): Legend {
  const body: string[] = [];
  let x = left;
  let y = top;
  for (const [at, name] of names.entries()) {
    const width = sampleWidth + 6 + name.length * characterWidth + gap;
    if (x > left && x + width > chartWidth) {
      x = left;
      y += lineHeight;
    }
    body.push(
      sample === 'line'
        ? element('path', { class: `line ${seriesClass(at)}`, d: `M${x} ${y - 4}h${sampleWidth}` })
        : element('rect', { class: `area ${seriesClass(at)}`, x, y: y - 10, width: 12, height: 12 }),
      textElement(name, { x: x + (sample === 'line' ? sampleWidth + 6 : 18), y }),
    );
    x += width;
  }
  return { body, bottom: y + 8 };
}

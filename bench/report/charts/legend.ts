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

/** Names with a piece of the line of each, in as many lines as they need. */
export function legendOf(entries: readonly { readonly name: string; readonly look: number }[], top: number): Legend {
  const body: string[] = [];
  let x = left;
  let y = top;
  for (const { name, look } of entries) {
    const width = sampleWidth + 6 + name.length * characterWidth + gap;
    if (x > left && x + width > chartWidth) {
      x = left;
      y += lineHeight;
    }
    body.push(
      element('path', { class: `line ${seriesClass(look)}`, d: `M${x} ${y - 4}h${sampleWidth}` }),
      textElement(name, { x: x + sampleWidth + 6, y }),
    );
    x += width;
  }
  return { body, bottom: y + 8 };
}

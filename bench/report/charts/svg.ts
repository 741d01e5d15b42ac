type Attributes = Readonly<Record<string, string | number | undefined>>;

/** An element as text. Children are elements; the text of `text` and `title` goes through `escapeText` before. */
export function element(name: string, attributes: Attributes, ...children: readonly string[]): string {
  const written = Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : ` ${key}="${typeof value === 'number' ? rounded(value) : escapeText(value)}"`,
  );
  const start = `<${name}${written.join('')}`;
  return children.length === 0 ? `${start}/>` : `${start}>${children.join('')}</${name}>`;
}

export function textElement(words: string, attributes: Attributes): string {
  return element('text', attributes, escapeText(words));
}

export function escapeText(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

function rounded(value: number): string {
  return String(Math.round(value * 10) / 10);
}

export const chartWidth = 700;
/** About, of the characters of the chart's font. */
export const characterWidth = 6.6;

/** Colours on white and on black, distinct also for colour-blind readers. Lines have dashes too. */
const seriesColours = [
  { light: '#0b5cad', dark: '#6cb2ff', dashes: undefined },
  { light: '#c2410c', dark: '#ff9e66', dashes: '7 3' },
  { light: '#15803d', dark: '#63d48c', dashes: '2 3' },
  { light: '#7e22ce', dark: '#c9a2ff', dashes: '10 3 2 3' },
  { light: '#52525b', dark: '#b3b3bd', dashes: '4 4' },
  { light: '#be185d', dark: '#ff8fbf', dashes: '1 4' },
] as const;

export function seriesClass(at: number): string {
  return `s${at % seriesColours.length}`;
}

const style = `
text { font: 13px system-ui, sans-serif; fill: #1f2328; }
.title { font-size: 16px; font-weight: 600; }
.background { fill: #ffffff; }
.grid { stroke: #d5d9de; }
.line { fill: none; stroke-width: 2; }
${seriesColours.map(({ light, dashes }, at) => seriesRule(at, light) + dashRule(at, dashes)).join('')}
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; }
.background { fill: #0d1117; }
.grid { stroke: #363d46; }
${seriesColours.map(({ dark }, at) => seriesRule(at, dark)).join('')}
}
`;

function seriesRule(at: number, colour: string): string {
  return `.line.s${at} { stroke: ${colour}; } .area.s${at} { fill: ${colour}; }\n`;
}

function dashRule(at: number, dashes: string | undefined): string {
  return dashes === undefined ? '' : `.line.s${at} { stroke-dasharray: ${dashes}; }\n`;
}

/** A whole file. `summary`: for screen readers. */
export function svgDocument(title: string, summary: string, height: number, body: readonly string[]): string {
  const size = { viewBox: `0 0 ${chartWidth} ${height}`, width: chartWidth, height };
  const parts = [
    element('title', {}, escapeText(title)),
    element('desc', {}, escapeText(summary)),
    element('style', {}, style),
    element('rect', { class: 'background', width: chartWidth, height, rx: 6 }),
    textElement(title, { class: 'title', x: 16, y: 26 }),
    ...body,
  ];
  return `${element('svg', { xmlns: 'http://www.w3.org/2000/svg', role: 'img', ...size }, `\n${parts.join('\n')}\n`)}\n`;
}

/** A number as an axis or a label shows it: `12,000`, `0.25`. */
export function shortNumber(value: number): string {
  if (value === 0 || Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US');
  return Number(value.toPrecision(3)).toLocaleString('en-US', { maximumFractionDigits: 6 });
}

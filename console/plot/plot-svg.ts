import type { Shape } from './plot-shapes.ts';

export interface SvgTick {
  readonly at: number;
  readonly label: string;
}

export interface SvgPlot {
  readonly width: number;
  readonly height: number;
  /** Box of the shapes: left, top, width, height. */
  readonly frame: readonly [number, number, number, number];
  readonly shapes: readonly Shape[];
  readonly xTicks: readonly SvgTick[];
  readonly yTicks: readonly SvgTick[];
  readonly title: string;
  readonly legend: readonly { readonly name: string; readonly colour: string }[];
  readonly colours: { readonly surface: string; readonly text: string; readonly grid: string };
}

/** A plot as an SVG document of its own. */
export function plotSvg(plot: SvgPlot): string {
  const { width, height, frame, colours } = plot;
  const [left, top, inner, tall] = frame;
  const bottom = top + tall;
  const lines = plot.yTicks.map(({ at }) => `<path d="M${fixed(left)} ${fixed(at)}h${fixed(inner)}"/>`);
  const across = plot.xTicks.map(({ at }) => `<path d="M${fixed(at)} ${fixed(top)}v${fixed(tall)}"/>`);
  const yLabels = plot.yTicks.map(
    ({ at, label }) => `<text x="${fixed(left - 6)}" y="${fixed(at + 4)}" text-anchor="end">${escaped(label)}</text>`,
  );
  const xLabels = plot.xTicks.map(({ at, label }) =>
    label
      .split('\n')
      .map(
        (line, i) =>
          `<text x="${fixed(at)}" y="${fixed(bottom + 16 + i * 14)}" text-anchor="middle">${escaped(line)}</text>`,
      )
      .join(''),
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escaped(plot.title)}</title>`,
    `<rect width="${width}" height="${height}" fill="${escaped(colours.surface)}"/>`,
    `<clipPath id="frame"><rect x="${fixed(left)}" y="${fixed(top)}" width="${fixed(inner)}" height="${fixed(tall)}"/></clipPath>`,
    `<g stroke="${escaped(colours.grid)}" stroke-width="1">${lines.join('')}${across.join('')}</g>`,
    `<g clip-path="url(#frame)">${plot.shapes.map(shapeText).join('')}</g>`,
    `<g fill="${escaped(colours.text)}" font-family="system-ui, sans-serif" font-size="12">`,
    ...yLabels,
    ...xLabels,
    ...legendText(plot),
    '</g></svg>',
  ].join('\n');
}

function legendText({ legend, frame: [left] }: SvgPlot): string[] {
  let at = left;
  return legend.map(({ name, colour }) => {
    const text = `<rect x="${fixed(at)}" y="6" width="10" height="10" fill="${escaped(colour)}"/><text x="${fixed(at + 14)}" y="15">${escaped(name)}</text>`;
    at += 30 + name.length * 7;
    return text;
  });
}

function shapeText(shape: Shape): string {
  const colour = escaped(shape.colour);
  switch (shape.kind) {
    case 'line':
      return `<path d="${pathText(shape.points)}" fill="none" stroke="${colour}" stroke-width="1.3" stroke-linejoin="round"/>`;
    case 'area':
      return `<path d="${pathText(shape.points)}Z" fill="${colour}" fill-opacity="${shape.opacity}"/>`;
    case 'dots':
      return `<path d="${dots(shape.points)}" stroke="${colour}" stroke-width="4" stroke-linecap="round" stroke-opacity="0.7"/>`;
    case 'boxes':
      return `<path d="${shape.boxes.map(([x, y, w, h]) => `M${fixed(x)} ${fixed(y)}h${fixed(w)}v${fixed(h)}h${fixed(-w)}z`).join('')}" fill="${colour}" fill-opacity="${fixed(shape.opacity)}"/>`;
    default:
      return shape satisfies never;
  }
}

function pathText(points: readonly number[]): string {
  const parts: string[] = [];
  for (let i = 0; i + 1 < points.length; i += 2) {
    parts.push(`${i === 0 ? 'M' : 'L'}${fixed(points[i] ?? 0)} ${fixed(points[i + 1] ?? 0)}`);
  }
  return parts.join('');
}

function dots(points: readonly number[]): string {
  const parts: string[] = [];
  for (let i = 0; i + 1 < points.length; i += 2) parts.push(`M${fixed(points[i] ?? 0)} ${fixed(points[i + 1] ?? 0)}h0`);
  return parts.join('');
}

function fixed(value: number): string {
  return String(Math.round(value * 100) / 100);
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** XML has no control characters. */
function escaped(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is left out
  return text.replaceAll(/[&<>"]/g, (sign) => entities[sign] ?? '').replaceAll(/[\u0000-\u0008\u000b-\u001f]/g, '');
}

import type { ChartView } from './chart-view.ts';
import type { Shape } from './plot-shapes.ts';

export function paintShape(ctx: CanvasRenderingContext2D, shape: Shape): void {
  const unit = devicePixelRatio;
  ctx.globalAlpha = 'opacity' in shape ? shape.opacity : 1;
  ctx.beginPath();
  switch (shape.kind) {
    case 'line':
    case 'area': {
      const { points } = shape;
      for (let i = 0; i + 1 < points.length; i += 2) ctx.lineTo(points[i] ?? 0, points[i + 1] ?? 0);
      if (shape.kind === 'area') {
        ctx.fillStyle = shape.colour;
        ctx.fill();
      } else {
        // A single point has no line.
        if (points.length === 2) ctx.rect((points[0] ?? 0) - unit, (points[1] ?? 0) - unit, 2 * unit, 2 * unit);
        ctx.strokeStyle = shape.colour;
        ctx.lineWidth = 1.3 * unit;
        ctx.lineJoin = 'round';
        ctx.stroke();
      }
      break;
    }
    case 'dots': {
      ctx.globalAlpha = 0.7;
      ctx.fillStyle = shape.colour;
      for (let i = 0; i + 1 < shape.points.length; i += 2) {
        const [x = 0, y = 0] = [shape.points[i], shape.points[i + 1]];
        ctx.moveTo(x, y);
        ctx.arc(x, y, 2 * unit, 0, 2 * Math.PI);
      }
      ctx.fill();
      break;
    }
    case 'boxes':
      ctx.fillStyle = shape.colour;
      for (const box of shape.boxes) ctx.rect(...box);
      ctx.fill();
      break;
    default:
      shape satisfies never;
  }
}

/** The names of the series with their colours, in one line from `left`, which is in device pixels. */
export function paintLegend(context: CanvasRenderingContext2D, view: ChartView, left: number): void {
  const { seriesNames, seriesColours, colours } = view;
  const unit = devicePixelRatio;
  let at = left;
  context.font = `${12 * unit}px system-ui, sans-serif`;
  for (const [i, name] of seriesNames.entries()) {
    context.fillStyle = seriesColours[i] ?? '';
    context.fillRect(at, 8 * unit, 10 * unit, 10 * unit);
    context.fillStyle = colours.text;
    context.fillText(name, at + 14 * unit, 17 * unit);
    at += context.measureText(name).width + 30 * unit;
  }
}

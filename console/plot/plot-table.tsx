import { formatCount } from '../widgets/format.ts';
import { RevealedText } from '../widgets/revealed-text.tsx';
import type { PlotAnswer } from './plot-answer.ts';
import type { PlotSettings } from './plot-settings.ts';
import { plotTable } from './plot-text.ts';

const mostShown = 500;

/** The points as text. */
export function PlotTable({ plot, settings }: { readonly plot: PlotAnswer; readonly settings: PlotSettings }) {
  const { head, rows } = plotTable(plot, settings);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by the keyboard
    <section class="plot-table" tabIndex={0} aria-label="Points of the plot">
      <table>
        <caption>
          {rows.length > mostShown
            ? `The first ${formatCount(mostShown)} of ${formatCount(rows.length)} points; CSV has all.`
            : `${formatCount(rows.length)} points`}
        </caption>
        <thead>
          <tr>
            {head.map((name) => (
              <th key={name} scope="col">
                <RevealedText text={name} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, mostShown).map((row, i) => (
            <tr key={i}>
              {row.map((cell, j) => (
                <td key={j}>
                  <RevealedText text={String(cell)} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

import { formatCount } from '../widgets/format.ts';
import type { Rejection } from './upload.ts';

interface RejectionListProps {
  readonly title: string;
  readonly rejections: readonly Rejection[];
  /** All of them; the list has the first. */
  readonly count: number;
}

export function RejectionList({ title, rejections, count }: RejectionListProps) {
  if (count === 0) return null;
  return (
    <details class="rejections" open>
      <summary>
        {title}: {formatCount(count)}
      </summary>
      <table>
        <thead>
          <tr>
            <th scope="col">Line</th>
            <th scope="col">Column</th>
            <th scope="col">Reason</th>
          </tr>
        </thead>
        <tbody>
          {rejections.map(({ line, column, reason }, index) => (
            <tr key={index}>
              <td>{formatCount(line)}</td>
              <td>{column ?? ''}</td>
              <td>{reason}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {count > rejections.length && <p class="muted">The first {formatCount(rejections.length)} are listed.</p>}
    </details>
  );
}

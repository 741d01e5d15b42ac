import { useEffect, useState } from 'preact/hooks';
import type { Answer } from '#client/api.ts';
import { isAbort, messageOf } from '../../api/api-error.ts';
import { call } from '../../api/request.ts';
import { CellValue } from '../../grid/cell-value.tsx';
import type { Cell } from '../../grid/grid-source.ts';
import { formatCount } from '../../widgets/format.ts';
import type { FrameColumn } from '../frame.ts';
import { ProfileHistogram } from './profile-histogram.tsx';

const shownTop = 10;

type Profile = Answer<'GET /handles/{handle}/profile'>;

/** The profile of a column's values. Requested when it is shown. */
export function ColumnProfile({ handle, column }: { readonly handle: string; readonly column: FrameColumn }) {
  const [profile, setProfile] = useState<Profile>();
  const [error, setError] = useState<unknown>();
  const [hasQuantiles, setQuantiles] = useState(false);
  useEffect(() => {
    const abort = new AbortController();
    const query = { column: column.name, quantiles: hasQuantiles ? true : undefined };
    call('GET /handles/{handle}/profile', { segments: { handle }, query, signal: abort.signal }).then(
      (told) => {
        setProfile(told);
        setError(undefined);
      },
      (failure: unknown) => {
        if (!isAbort(failure)) setError(failure);
      },
    );
    return () => abort.abort();
  }, [handle, column.name, hasQuantiles]);
  if (error !== undefined) {
    return (
      <p class="error" role="alert">
        {messageOf(error)}
      </p>
    );
  }
  if (profile === undefined) return <p class="muted">Reading the column …</p>;
  const { rows, count, nulls, nans, distinct, top, histogram, quantiles } = profile;
  // If each of many values occurs once, none is common.
  const hasCommon = top?.some((each) => each.count > 1) || (top?.length ?? 0) <= shownTop;
  const value = (cell: Cell) => (cell === null ? '–' : <CellValue cell={cell} column={column} />);
  return (
    <div class="profile">
      <div class="profile-facts">
        <dl class="facts">
          <dt>NULL</dt>
          <dd>
            {formatCount(nulls)} <span class="muted">{formatShare(nulls, rows)}</span>
          </dd>
          {nans > 0 && (
            <>
              <dt>NaN</dt>
              <dd>{formatCount(nans)}</dd>
            </>
          )}
          {profile.min !== null && (
            <>
              <dt>Minimum</dt>
              <dd>{value(profile.min)}</dd>
              <dt>Maximum</dt>
              <dd>{value(profile.max)}</dd>
            </>
          )}
          {profile.mean !== null && (
            <>
              <dt>Average</dt>
              <dd>{value(profile.mean)}</dd>
            </>
          )}
          {distinct !== null && (
            <>
              <dt>Different</dt>
              <dd>{profile.distinct_exact ? formatDistinct(distinct, count) : formatEstimate(distinct, count)}</dd>
            </>
          )}
          {quantiles?.map(({ rank, value: cell }) => [
            <dt key={`t${rank}`}>{formatRank(rank)}</dt>,
            <dd key={`d${rank}`}>{value(cell)}</dd>,
          ])}
        </dl>
        {histogram !== null && !hasQuantiles && (
          <button type="button" class="button" onClick={() => setQuantiles(true)}>
            Quantiles
          </button>
        )}
      </div>
      {histogram !== null && histogram.bins.length > 0 && <ProfileHistogram histogram={histogram} type={column.type} />}
      {top !== null && top.length > 0 && hasCommon && (
        <div class="profile-top">
          <h2 class="profile-title">Most common values</h2>
          <ol>
            {top.slice(0, shownTop).map(({ value: cell, count }, index) => (
              <li key={index}>
                <span class="profile-value">
                  <CellValue cell={cell} column={column} />
                </span>
                <span class="muted">
                  {formatCount(count)} {formatShare(count, rows)}
                </span>
                <meter class="profile-meter" min={0} max={rows} value={count} aria-label="Share of the rows" />
              </li>
            ))}
          </ol>
        </div>
      )}
    </div>
  );
}

function formatDistinct(distinct: number, count: number): string {
  return distinct === count && count > 1 ? `${formatCount(distinct)}, all` : formatCount(distinct);
}

/** The estimate may be wrong by a third. */
function formatEstimate(estimate: number, count: number): string {
  const [least, most] = [rounded(estimate / 1.4), rounded(estimate * 1.4)];
  return most < count ? `${formatCount(least)} to ${formatCount(most)}` : `${formatCount(least)} or more, perhaps all`;
}

/** To two digits. */
function rounded(value: number): number {
  return Number(value.toPrecision(2));
}

function formatShare(part: number, whole: number): string {
  if (whole === 0 || part === 0) return '';
  const percent = (100 * part) / whole;
  return `(${percent < 0.1 ? '< 0.1' : percent.toFixed(1)} %)`;
}

function formatRank(rank: number): string {
  return rank === 0.5 ? 'Median' : `${Number((rank * 100).toFixed(2))} %`;
}

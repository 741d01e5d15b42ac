import type { TargetedFocusEvent, TargetedKeyboardEvent } from 'preact';
import { useState } from 'preact/hooks';
import { Check, Choice, SearchInput } from '../widgets/fields.tsx';
import { formatCount } from '../widgets/format.ts';
import { Icon } from '../widgets/icon.tsx';
import { ColumnChoice, foundNames, mostInMenu } from './column-choice.tsx';
import {
  type Aggregate,
  aggregates,
  classOf,
  mostColumns,
  type PlotColumn,
  type PlotKind,
  type PlotSettings,
  plotKinds,
} from './plot-settings.ts';

const kindNames: Readonly<Record<PlotKind, string>> = {
  line: 'Line',
  band: 'Band',
  bars: 'Bars',
  histogram: 'Histogram',
  scatter: 'Scatter',
};
const aggregateNames: Readonly<Record<Aggregate, string>> = {
  avg: 'average',
  sum: 'sum',
  min: 'lowest',
  max: 'highest',
  count: 'count',
};

export interface PlotToolbarProps {
  readonly settings: PlotSettings;
  readonly columns: readonly PlotColumn[];
  onChange(change: Partial<PlotSettings>): void;
}

/** The settings of a plot as controls. */
export function PlotToolbar({ settings, columns, onChange }: PlotToolbarProps) {
  const { kind, x, y, series, aggregate, zone } = settings;
  const xClass = columns.filter(({ name }) => name === x).map(classOf)[0];
  const isBars = kind === 'bars' || kind === 'histogram';
  const across = columns.filter((column) => classOf(column) !== 'other').map(({ name }) => name);
  return (
    <div class="plot-settings">
      <Choice
        label="Kind"
        value={kind}
        options={plotKinds.map((each) => [each, kindNames[each]])}
        onChange={(value) => onChange({ kind: value as PlotKind })}
      />
      <ColumnChoice
        label={kind === 'histogram' ? 'Values of' : 'X'}
        value={x}
        names={across}
        {...(kind !== 'histogram' && { none: 'row number' })}
        onChange={(value) => onChange({ x: value })}
      />
      {kind !== 'histogram' && <Measures y={y} columns={columns} isSingle={kind === 'scatter'} onChange={onChange} />}
      <ColumnChoice
        label="Series"
        value={series}
        names={across}
        none="one"
        onChange={(value) => onChange({ series: value })}
      />
      {kind === 'bars' && y.length > 0 && (
        <Choice
          label="Bar is the"
          value={aggregate}
          options={aggregates.map((each) => [each, aggregateNames[each]])}
          onChange={(value) => onChange({ aggregate: value as Aggregate })}
        />
      )}
      {xClass === 'time' && (
        <Choice
          label="Time zone"
          value={zone}
          options={[
            ['utc', 'UTC'],
            ['local', 'local'],
          ]}
          onChange={(value) => onChange({ zone: value === 'local' ? 'local' : 'utc' })}
        />
      )}
      <Check class="plot-check" isChecked={settings.logY} onChange={(logY) => onChange({ logY })}>
        log y
      </Check>
      {xClass === 'number' && !isBars && (
        <Check class="plot-check" isChecked={settings.logX} onChange={(logX) => onChange({ logX })}>
          log x
        </Check>
      )}
    </div>
  );
}

interface MeasuresProps {
  readonly y: readonly string[];
  readonly columns: readonly PlotColumn[];
  readonly isSingle: boolean;
  onChange(change: Partial<PlotSettings>): void;
}

function closeByEscape(event: TargetedKeyboardEvent<HTMLDetailsElement>): void {
  if (event.key !== 'Escape') return;
  event.currentTarget.open = false;
  event.currentTarget.querySelector('summary')?.focus();
}

function closeBehindFocus({ currentTarget, relatedTarget }: TargetedFocusEvent<HTMLDetailsElement>): void {
  if (relatedTarget instanceof Node && !currentTarget.contains(relatedTarget)) currentTarget.open = false;
}

/** Several columns may be drawn over the same x. */
function Measures({ y, columns, isSingle, onChange }: MeasuresProps) {
  const [filter, setFilter] = useState('');
  const numbers = columns
    .filter((column) => classOf(column) === 'number' || /^BOOLEAN/i.test(column.type))
    .map(({ name }) => name);
  if (isSingle) {
    return <ColumnChoice label="Y" value={y[0] ?? ''} names={numbers} onChange={(value) => onChange({ y: [value] })} />;
  }
  const isLong = numbers.length > mostInMenu;
  const listed = isLong ? [...new Set([...y, ...foundNames(numbers, filter)])] : numbers;
  const toggle = (name: string): void =>
    onChange({ y: y.includes(name) ? y.filter((each) => each !== name) : [...y, name] });
  const text = y.length === 0 ? 'count of rows' : y.length > 2 ? `${y.length} columns` : y.join(', ');
  return (
    <div class="field">
      <span aria-hidden="true">Y</span>
      <details class="plot-measures" onKeyDown={closeByEscape} onFocusOut={closeBehindFocus}>
        <summary class="input" aria-label={`Y: ${text}`}>
          <span>{text}</span>
          <Icon name="chevron-down" />
        </summary>
        <fieldset class="plot-measure-list">
          <legend class="visually-hidden">Columns of y</legend>
          {numbers.length === 0 && <p class="muted">No column has numbers.</p>}
          {isLong && (
            <SearchInput
              label="Filter columns of y"
              placeholder={`Filter ${formatCount(numbers.length)} columns`}
              value={filter}
              onInput={setFilter}
            />
          )}
          {listed.map((name) => (
            <Check
              key={name}
              class="plot-check"
              isChecked={y.includes(name)}
              isDisabled={!y.includes(name) && y.length >= mostColumns}
              onChange={() => toggle(name)}
            >
              {name}
            </Check>
          ))}
        </fieldset>
      </details>
    </div>
  );
}

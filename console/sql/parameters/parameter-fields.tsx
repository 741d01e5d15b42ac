import { type ReadonlySignal, useSignalEffect } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { keepValues, typedValue } from './kept-values.ts';
import { type ParameterType, parameterTypes } from './parameter-value.ts';
import type { StatementParameter } from './statement-parameters.ts';

/** The statements that would run, with their parameters. */
export interface ParameterPlace {
  readonly tab: string;
  readonly statements: readonly { readonly sql: string; readonly parameters: readonly StatementParameter[] }[];
}

/** The fault of a parameter's value. */
export interface ParameterFault {
  readonly key: string;
  readonly message: string;
}

export interface ParameterFieldsProps {
  readonly place: ReadonlySignal<ParameterPlace>;
  readonly fault: ReadonlySignal<ParameterFault | undefined>;
  readonly onChange: () => void;
  readonly onRun: () => void;
}

/** A field for each parameter of the statements that would run. Nothing where they take none. */
export function ParameterFields({ place, fault, onChange, onRun }: ParameterFieldsProps) {
  const form = useRef<HTMLFormElement>(null);
  const { tab, statements } = place.value;
  const wrong = fault.value;
  useSignalEffect(() => {
    const key = fault.value?.key;
    if (key !== undefined) form.current?.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)?.focus();
  });
  const fields = new Map(statements.flatMap(({ parameters }) => parameters).map((each) => [each.key, each]));
  if (fields.size === 0) return null;
  const change = (key: string, text: string, type: ParameterType): void => {
    for (const { sql, parameters } of statements) {
      if (parameters.some((each) => each.key === key)) keepValues(tab, sql, { [key]: { text, type } });
    }
    onChange();
  };
  return (
    <form
      ref={form}
      class="sql-parameters"
      aria-label="Values of the parameters"
      onSubmit={(event) => {
        event.preventDefault();
        onRun();
      }}
    >
      {[...fields.values()].map(({ key, label }) => {
        const using = statements.find(({ parameters }) => parameters.some((each) => each.key === key));
        const { text, type } = typedValue(tab, using?.sql ?? '', key);
        const isWrong = wrong?.key.toLowerCase() === key.toLowerCase();
        return (
          <div key={key} class="sql-parameter">
            <label>
              <span class="mono">{label}</span>
              <input
                class="input mono"
                type="text"
                data-key={key}
                spellcheck={false}
                autocomplete="off"
                disabled={type === 'null'}
                aria-invalid={isWrong}
                aria-describedby={isWrong ? 'sql-parameter-fault' : undefined}
                placeholder={type === 'null' ? 'NULL' : placeholders[type]}
                value={type === 'null' ? '' : text}
                onInput={(event) => change(key, event.currentTarget.value, type)}
              />
            </label>
            <select
              class="input"
              aria-label={`Type of ${label}`}
              value={type}
              onChange={(event) => change(key, text, event.currentTarget.value as ParameterType)}
            >
              {Object.entries(parameterTypes).map(([name, title]) => (
                <option key={name} value={name}>
                  {title}
                </option>
              ))}
            </select>
          </div>
        );
      })}
      {wrong !== undefined && (
        <p id="sql-parameter-fault" class="error" role="alert">
          {wrong.message}
        </p>
      )}
      {/* Enter in a field runs. */}
      <button type="submit" hidden />
    </form>
  );
}

const placeholders: Readonly<Partial<Record<ParameterType, string>>> = {
  date: '2026-01-31',
  timestamp: '2026-01-31 12:00:00',
  json: '[1, 2]',
};

import type { ComponentChildren } from 'preact';

export interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, title: string])[];
  readonly onChange: (value: string) => void;
}

/** One of several options. */
export function Choice({ label, value, options, onChange }: ChoiceProps) {
  return (
    <label class="field">
      <span>{label}</span>
      <select class="input" value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map(([each, title]) => (
          <option key={each} value={each} selected={each === value}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

export interface CheckProps {
  readonly class?: string;
  readonly isChecked: boolean;
  readonly isDisabled?: boolean;
  readonly onChange: (isChecked: boolean) => void;
  readonly children: ComponentChildren;
}

export function Check({ class: className = 'option', isChecked, isDisabled = false, onChange, children }: CheckProps) {
  return (
    <label class={className}>
      <input
        type="checkbox"
        checked={isChecked}
        disabled={isDisabled}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      {children}
    </label>
  );
}

/** Label of the check box wherever cells are exported as text. */
export const escapeFormulasText = 'Escape formulas: an apostrophe before text that a spreadsheet would run';

export interface SearchInputProps {
  readonly label: string;
  /** Default: the label. */
  readonly placeholder?: string;
  readonly hasFocus?: boolean;
  readonly value: string;
  readonly onInput: (value: string) => void;
}

export function SearchInput({ label, placeholder = label, hasFocus = false, value, onInput }: SearchInputProps) {
  return (
    <input
      class="input"
      type="search"
      aria-label={label}
      placeholder={placeholder}
      // biome-ignore lint/a11y/noAutofocus: in a dialog that is opened to search
      autoFocus={hasFocus}
      value={value}
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  );
}

import { useId, useState } from 'preact/hooks';
import { Choice } from '../widgets/fields.tsx';
import { revealedText } from '../widgets/hidden-characters.ts';

/** A menu of more would take seconds to be made: its columns are found by typing. */
export const mostInMenu = 200;
const mostFound = 50;

export interface ColumnChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly names: readonly string[];
  /** The label for no column; undefined: there must be one. */
  readonly none?: string;
  onChange(value: string): void;
}

/** One column, or none. */
export function ColumnChoice({ label, value, names, none, onChange }: ColumnChoiceProps) {
  const id = useId();
  const [typed, setTyped] = useState<string>();
  if (names.length <= mostInMenu) {
    const options = names.map((name) => [name, revealedText(name)] as const);
    const all = none === undefined ? options : [['', none] as const, ...options];
    return <Choice label={label} value={value} options={all} onChange={onChange} />;
  }
  const take = (text: string): void => {
    setTyped(text);
    if (names.includes(text) || (text === '' && none !== undefined)) onChange(text);
  };
  return (
    <label class="field">
      <span>{label}</span>
      <input
        class="input"
        list={id}
        placeholder={none ?? 'type a name'}
        value={typed ?? value}
        onInput={(event) => take(event.currentTarget.value)}
        onBlur={() => setTyped(undefined)}
      />
      <datalist id={id}>
        {foundNames(names, typed ?? value).map((name) => (
          <option key={name} value={name} label={revealedText(name)} />
        ))}
      </datalist>
    </label>
  );
}

/** The first names that contain the text. */
export function foundNames(names: readonly string[], text: string): readonly string[] {
  const found: string[] = [];
  const wanted = text.toLowerCase();
  for (const name of names) {
    if (name.toLowerCase().includes(wanted)) found.push(name);
    if (found.length >= mostFound) break;
  }
  return found;
}

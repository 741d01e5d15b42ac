import { useRef } from 'preact/hooks';
import { messageOf } from '../../api/api-error.ts';
import { Icon } from '../../widgets/icon.tsx';
import { notify } from '../../widgets/notices.tsx';
import { saveBlob } from '../../widgets/save-blob.ts';

export interface FileActionsProps {
  /** Name of the exported file. */
  readonly name: string;
  readonly isEmpty: boolean;
  readonly exported: () => string;
  /** Returns the number of statements. Throws for another file. */
  readonly take: (text: string) => number;
}

/** The way of statements to another browser. */
export function FileActions({ name, isEmpty, exported, take }: FileActionsProps) {
  const file = useRef<HTMLInputElement>(null);
  const takeFile = async (chosen: File | undefined): Promise<void> => {
    if (chosen === undefined) return;
    try {
      const count = take(await chosen.text());
      notify(`${count} ${count === 1 ? 'statement' : 'statements'} imported`);
    } catch (error) {
      notify(`${chosen.name} cannot be imported: ${messageOf(error)}`, { isError: true });
    }
  };
  return (
    <>
      <input
        ref={file}
        type="file"
        accept=".json,application/json"
        hidden
        onChange={(event) => {
          void takeFile(event.currentTarget.files?.[0]);
          event.currentTarget.value = '';
        }}
      />
      <button type="button" class="button" onClick={() => file.current?.click()}>
        <Icon name="upload" />
        Import
      </button>
      <button
        type="button"
        class="button"
        disabled={isEmpty}
        onClick={() => saveBlob(new Blob([exported()], { type: 'application/json' }), name)}
      >
        <Icon name="download" />
        Export
      </button>
    </>
  );
}

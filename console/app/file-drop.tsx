import { useEffect, useState } from 'preact/hooks';
import { mayWrite } from '../api/session.ts';
import { goTo, hrefOf } from '../navigation/route.ts';
import { Icon } from '../widgets/icon.tsx';

/** Takes files that are dropped anywhere on the page to the view of uploads. */
export function FileDrop() {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const listening = new AbortController();
    const { signal } = listening;
    const on = (type: 'dragenter' | 'dragover' | 'dragleave' | 'drop', hear: (event: DragEvent) => void): void =>
      addEventListener(type, (event) => hasFiles(event) && hear(event), { signal });
    on('dragenter', () => setOver(mayWrite.peek()));
    // Without this the browser would leave the page for the file.
    on('dragover', (event) => event.preventDefault());
    on('dragleave', (event) => {
      if (event.relatedTarget === null) setOver(false);
    });
    on('drop', (event) => {
      event.preventDefault();
      setOver(false);
      const files = [...(event.dataTransfer?.files ?? [])];
      if (mayWrite.peek() && files.length > 0) void take(files);
    });
    return () => listening.abort();
  }, []);
  if (!isOver) return null;
  return (
    <div class="file-drop" aria-hidden="true">
      <Icon name="upload" />
      Drop files to upload them
    </div>
  );
}

function hasFiles({ dataTransfer }: DragEvent): boolean {
  return dataTransfer?.types.includes('Files') === true;
}

async function take(files: readonly File[]): Promise<void> {
  const { addFiles } = await import('../upload/uploads.ts');
  addFiles(files);
  goTo(hrefOf('upload'));
}

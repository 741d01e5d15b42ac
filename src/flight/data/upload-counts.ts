import { tryReadMessageHead } from '../../encoding/arrow/read/format/message-head.ts';

/**
 * Counts the columns and rows of an upload by the Arrow headers of its messages. What it cannot read it leaves to the engine,
 * which says what is wrong with it.
 */
export class UploadCounts {
  columns = 0;
  rows = 0;

  add(header: Uint8Array): void {
    const head = tryReadMessageHead(header);
    if (head?.kind === 'schema') this.columns = head.fields;
    this.rows += head?.rows ?? 0;
  }
}

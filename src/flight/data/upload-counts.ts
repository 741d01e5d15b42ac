import { tryReadMessageHead } from '@framehold/arrow-ipc';

/**
 * Counts the columns and rows of an upload by the Arrow headers of its messages. Unreadable ones are left to the engine, which
 * reports the fault.
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

import type { FrameTable, ViewTable } from '../../core/sql/sql.ts';
import { fullName } from './table-names.ts';
import { type ShownView, tooLarge } from './view-fault.ts';

/** Tables that the views of a statement name together, each time that one is named. */
const mostNames = 1000;
/** Total size of the texts of views, counted each time that one is named. */
const mostText = 2 ** 20;

/** The size of a view together with all views that it reads. */
interface Size {
  readonly names: number;
  readonly text: number;
}

/** The sizes of the views of a statement. */
export class ViewSizes {
  /** By `owner/handle`. */
  readonly #sizes = new Map<string, Size>();

  /** Refuses a view that the engine would plan for too long. */
  measure(frame: string, query: string, reads: readonly (FrameTable | ViewTable)[], shown: ShownView): void {
    let [names, text] = [0, query.length];
    for (const read of reads) {
      const times = query.split(fullName(read.frame)).length - 1;
      const { names: innerNames, text: innerText } = this.#sizes.get(read.frame) ?? { names: 0, text: 0 };
      names += times * (1 + innerNames);
      text += times * innerText;
    }
    this.#sizes.set(frame, { names, text });
    if (names > mostNames || text > mostText) throw tooLarge(shown);
  }
}

import type { Producer } from '../../core/callers/producer.ts';
import { AppError } from '../../core/errors/app-error.ts';

/** Beyond this many producers of a frame the one that has been quiet longest is forgotten. */
const mostProducers = 1000;

/** The progress of each producer of a frame. */
export class ProducerMarks {
  /** The producer that has been quiet longest comes first. */
  readonly #marks = new Map<string, Producer>();

  constructor(producers: readonly Producer[]) {
    for (const producer of producers) this.add(producer);
  }

  get all(): readonly Producer[] {
    return [...this.#marks.values()];
  }

  /** Whether the append was seen before. Throws where another one is expected. */
  isRepeated({ id, epoch, seq }: Producer): boolean {
    const mark = this.#marks.get(id);
    if (mark !== undefined && epoch < mark.epoch) {
      throw new AppError('producer_fenced', `producer ${JSON.stringify(id)} is at epoch ${mark.epoch}, not ${epoch}`, {
        hint: 'another instance of this producer has taken over; stop this one, or begin a higher epoch',
      });
    }
    const expected = mark === undefined || epoch > mark.epoch ? 0 : mark.seq + 1;
    if (seq < expected) return true;
    if (seq === expected) return false;
    throw new AppError(
      'producer_gap',
      `producer ${JSON.stringify(id)} sent ${seq}; the next number of epoch ${epoch} is ${expected}`,
      { hint: 'send the appends that are missing first, or begin a higher epoch with 0' },
    );
  }

  add(producer: Producer): void {
    this.#marks.delete(producer.id);
    this.#marks.set(producer.id, producer);
    for (const oldest of this.#marks.keys()) {
      if (this.#marks.size <= mostProducers) break;
      this.#marks.delete(oldest);
    }
  }
}

import { AppError } from '../../core/app-error.ts';

/** What one reader of messages has of a budget. */
export interface BudgetShare {
  /** Throws where others hold too much. */
  take(bytes: number): void;
  /** Gives back all that was taken. */
  clear(): void;
}

/** Memory for the messages that many readers hold at once. Each may be large, and a client can begin a hundred of them. */
export class MessageBudget {
  readonly #maxBytes: number;
  #heldBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  share(): BudgetShare {
    let own = 0;
    return {
      take: (bytes) => {
        if (this.#heldBytes + bytes > this.#maxBytes) {
          throw new AppError('overloaded', `requests under way hold ${this.#heldBytes} bytes in memory already`, {
            hint: 'send smaller messages, or fewer at once',
            retryAfterSeconds: 1,
          });
        }
        this.#heldBytes += bytes;
        own += bytes;
      },
      clear: () => {
        this.#heldBytes -= own;
        own = 0;
      },
    };
  }
}

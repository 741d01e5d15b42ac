import { AppError } from '../../core/app-error.ts';
import type { Share } from '../../core/async/fair-shares.ts';
import type { Handle } from '../../core/handle.ts';
import type { TenantLimits } from '../../core/principal.ts';
import type { TenantState } from '../catalog/tenant-state.ts';
import type { Scanner } from '../reconcile/scanner.ts';

/** What a put adds. */
export interface Addition {
  readonly handle: Handle;
  readonly bytes: number;
  /** They take the place of what is held under the handle. */
  readonly isReplacement: boolean;
}

/** Refuses (`quota_exceeded`) what the tenant has no room for. */
export type AssertRoom = (addition: Addition) => void;

/** Bytes on their way in. They count among those of the tenant's uploads until this is disposed of. */
export interface Arrival extends Disposable {
  /** Passes the stream on. Throws (`quota_exceeded`) where the uploads of the tenant together take too much of the disk. */
  counted<T extends Uint8Array>(stream: AsyncIterable<T>): AsyncGenerator<T, void, undefined>;
}

/** Text, or Arrow, may take so many times the bytes of the Parquet that it becomes. */
const arrivingPerByte = 10;
const leastArrivingBytes = 64_000_000;

type Limits = Pick<TenantLimits, 'maxBytes' | 'maxFrames'>;

/** How much a tenant may hold, over all processes. */
export class Quota {
  readonly #state: TenantState;
  readonly #scanner: Scanner;
  /** Bytes of uploads that are neither held nor given up. */
  #arriving = 0;

  constructor(state: TenantState, scanner: Scanner) {
    this.#state = state;
    this.#scanner = scanner;
  }

  /**
   * Runs a commit. Where the tenant has limits no other commit of a put runs meanwhile, in no process, so that what was
   * found to fit still does when it is committed. Not for those who hold the lock of a handle.
   */
  async run<T>(commit: (assertRoom: AssertRoom) => Promise<T>): Promise<T> {
    const limits = await this.#limits();
    if (limits === undefined) return commit(() => {});
    return this.#state.alone(async () => {
      await this.#catchUp();
      return commit((addition) => this.#assertRoom(limits, addition));
    });
  }

  /** Early, before the rows are there: refuses what will not fit, however few they are. */
  async refuseFull(handle: Handle, mode: 'create' | 'overwrite' | 'append'): Promise<void> {
    const limits = await this.#limits();
    if (limits === undefined) return;
    const least = { handle, bytes: 1, isReplacement: mode === 'overwrite' };
    try {
      this.#assertRoom(limits, least);
    } catch {
      // Another server may have dropped a frame a moment ago.
      await this.#catchUp();
      this.#assertRoom(limits, least);
    }
  }

  /** What becomes of an upload shows at its end; until then it must not fill the disk. */
  async arrival(lane?: string): Promise<Arrival> {
    const { maxBytes = Infinity } = (await this.#limits()) ?? {};
    const most = Math.max(leastArrivingBytes, arrivingPerByte * maxBytes);
    const add = (bytes: number): void => {
      own += bytes;
      this.#arriving += bytes;
      if (this.#arriving > most) {
        throw exceeded(
          `the uploads of your tenant that are under way take more than ${most} bytes, of ${maxBytes} that it may hold`,
        );
      }
    };
    const { context, directory } = this.#state;
    const shares: Share[] = [];
    let own = 0;
    return {
      async *counted(stream) {
        const onHeld = (share: Share): void => void shares.push(share);
        for await (const piece of context.uploadDisk.counted(stream, lane ?? directory.tenant, onHeld)) {
          add(piece.length);
          yield piece;
        }
      },
      [Symbol.dispose]: () => {
        for (const share of shares) share[Symbol.dispose]();
        this.#arriving -= own;
        own = 0;
      },
    };
  }

  async #limits(): Promise<Limits | undefined> {
    const { context, directory } = this.#state;
    const limits = await context.limitsOf(directory.tenant);
    return limits?.maxBytes === undefined && limits?.maxFrames === undefined ? undefined : limits;
  }

  async #catchUp(): Promise<void> {
    await this.#scanner.catchUp();
    if (this.#state.isLoaded) return;
    throw new AppError('overloaded', 'the frames of your tenant could not be counted', {
      hint: 'try again in a moment',
      retryAfterSeconds: 1,
    });
  }

  #assertRoom({ maxFrames, maxBytes }: Limits, { handle, bytes, isReplacement }: Addition): void {
    const { catalog } = this.#state;
    const use = catalog.use;
    const before = catalog.bytesOf(handle);
    if (before === undefined && maxFrames !== undefined && use.frames >= maxFrames) {
      throw exceeded(`your tenant holds ${use.frames} frames, and may hold ${maxFrames}`);
    }
    const more = bytes - (isReplacement ? (before ?? 0) : 0);
    if (maxBytes !== undefined && more > 0 && use.bytes + more > maxBytes) {
      throw exceeded(`your tenant holds ${use.bytes} bytes, and may hold ${maxBytes}; this takes ${more} more`);
    }
  }
}

function exceeded(message: string): AppError {
  return new AppError('quota_exceeded', message, { hint: 'drop frames, or ask the operator for more room' });
}

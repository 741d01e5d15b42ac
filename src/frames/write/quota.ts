import type { Share } from '../../core/async/share.ts';
import type { TenantLimits } from '../../core/callers/principal.ts';
import { AppError } from '../../core/errors/app-error.ts';
import type { Handle } from '../../core/names/handle.ts';
import type { TenantState } from '../catalog/tenant-state.ts';
import type { Scanner } from '../reconcile/scanner.ts';

/** The rows and bytes that a put adds. */
export interface Addition {
  readonly handle: Handle;
  readonly bytes: number;
  /** They replace the frame of the handle. */
  readonly isReplacement: boolean;
}

/** Refuses (`quota_exceeded`) additions beyond the tenant's quota. */
export type AssertRoom = (addition: Addition) => void;

/** Bytes of an upload. They count among those of the tenant's uploads until this is disposed of. */
export interface Arrival extends Disposable {
  /** Passes the stream on. Throws (`quota_exceeded`) where the uploads of the tenant together take too much of the disk. */
  counted<T extends Uint8Array>(stream: AsyncIterable<T>): AsyncGenerator<T, void, undefined>;
}

/** Text, or Arrow, may take this many times the bytes of its Parquet. */
const arrivingPerByte = 10;
const leastArrivingBytes = 64_000_000;

type Limits = Pick<TenantLimits, 'maxBytes' | 'maxFrames'>;

/** Limits of a tenant, over all processes. */
export class Quota {
  readonly #state: TenantState;
  readonly #scanner: Scanner;
  /** Bytes of uploads that are neither committed nor abandoned. */
  #arriving = 0;

  constructor(state: TenantState, scanner: Scanner) {
    this.#state = state;
    this.#scanner = scanner;
  }

  /**
   * Runs a commit. For a tenant with limits no other commit of a put runs meanwhile, in any process, so that a checked addition
   * still fits when it is committed. Not for tasks that hold the lock of a handle.
   */
  async run<T>(commit: (assertRoom: AssertRoom) => Promise<T>): Promise<T> {
    const limits = await this.#limits();
    if (limits === undefined) return commit(() => {});
    return this.#state.alone(async () => {
      await this.#catchUp();
      return commit((addition) => this.#assertRoom(limits, addition));
    });
  }

  /** Early, before the rows arrive: refuses a put that cannot fit, however small. */
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

  /** The stored size of an upload is known at its end; until then it must not fill the disk. */
  async arrival(lane?: string): Promise<Arrival> {
    const { maxBytes = Infinity } = (await this.#limits()) ?? {};
    const most = Math.max(leastArrivingBytes, arrivingPerByte * maxBytes);
    const add = (bytes: number): void => {
      if (isOver) return;
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
    /** The last piece may arrive after the consumer of the upload has ended. */
    let isOver = false;
    return {
      async *counted(stream) {
        const onHeld = (share: Share): void => {
          shares.push(share);
          if (isOver) share[Symbol.dispose]();
        };
        for await (const piece of context.uploadDisk.counted(stream, lane ?? directory.tenant, onHeld)) {
          add(piece.length);
          yield piece;
        }
      },
      [Symbol.dispose]: () => {
        isOver = true;
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

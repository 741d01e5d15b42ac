import type { Handle } from '../core/handle.ts';
import type { Principal } from '../core/principal.ts';
import type { FrameSummary } from '../frames/catalog/frame-summary.ts';
import type { Frames, ListOptions } from '../frames/frames.ts';
import { assertMay, isWithin } from './rights.ts';

/** The frames as a principal may see and change them. Each right is checked before anything is looked up. */
export class FrameAccess implements Frames {
  readonly #frames: Frames;

  constructor(frames: Frames) {
    this.#frames = frames;
  }

  readonly read: Frames['read'] = async (principal, selection, options) => {
    assertMay(principal, 'readFrames', selection.handle);
    return this.#frames.read(principal, selection, options);
  };

  peek(principal: Principal, handle: Handle): string | undefined {
    assertMay(principal, 'readFrames', handle);
    return this.#frames.peek(principal, handle);
  }

  readonly open: Frames['open'] = async (principal, handle, options) => {
    assertMay(principal, 'readFrames', handle);
    return this.#frames.open(principal, handle, options);
  };

  readonly openParts: Frames['openParts'] = async (principal, selection, options) => {
    assertMay(principal, 'readFrames', selection.handle);
    return this.#frames.openParts(principal, selection, options);
  };

  async *list(principal: Principal, options?: ListOptions): AsyncGenerator<FrameSummary> {
    assertMay(principal, 'readFrames');
    for await (const frame of this.#frames.list(principal, options)) {
      if (isWithin(principal, frame.handle)) yield frame;
    }
  }

  readonly describe: Frames['describe'] = async (principal, handle, options) => {
    assertMay(principal, 'readFrames', handle);
    return this.#frames.describe(principal, handle, options);
  };

  readonly put: Frames['put'] = async (principal, request, options) => {
    // A handle of the server's own choice would lie outside of every prefix.
    assertMay(principal, 'writeFrames', request.handle ?? ('' as Handle));
    return this.#frames.put(principal, request, options);
  };

  readonly refuseTaken: Frames['refuseTaken'] = async (principal, handle) => {
    assertMay(principal, 'writeFrames', handle);
    await this.#frames.refuseTaken(principal, handle);
  };

  readonly drop: Frames['drop'] = async (principal, handle, options) => {
    assertMay(principal, 'writeFrames', handle);
    return this.#frames.drop(principal, handle, options);
  };

  readonly renew: Frames['renew'] = async (principal, handle, ttlMs) => {
    assertMay(principal, 'writeFrames', handle);
    return this.#frames.renew(principal, handle, ttlMs);
  };

  readonly temporaryFile: Frames['temporaryFile'] = (principal) => this.#frames.temporaryFile(principal);

  readonly incomingFolder: Frames['incomingFolder'] = (principal) => this.#frames.incomingFolder(principal);

  readonly writeParquet: Frames['writeParquet'] = (principal, request, options) =>
    this.#frames.writeParquet(principal, request, options);
}

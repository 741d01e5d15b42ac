import { asReaderOf, type Principal, type Tenant } from '../core/callers/principal.ts';
import { AppError } from '../core/errors/app-error.ts';
import { type FrameName, isSharedName } from '../core/names/frame-name.ts';
import type { Handle } from '../core/names/handle.ts';
import { frameDamaged } from '../frames/catalog/frame-errors.ts';
import type { FrameSummary } from '../frames/catalog/frame-summary.ts';
import type { Frames, Signal } from '../frames/frames.ts';
import type { AccessRecords } from './access-records.ts';
import { onlyOwnerChanges } from './frame-access.ts';
import { assertMay } from './rights.ts';
import { refuseSharedView } from './shared-views.ts';

/** The tenants with which a tenant shares its frames. Reveals no other tenants. */
export class FrameShares {
  readonly #frames: Pick<Frames, 'describe' | 'list'>;
  readonly #records: AccessRecords;

  constructor(frames: Pick<Frames, 'describe' | 'list'>, records: AccessRecords) {
    this.#frames = frames;
    this.#records = records;
  }

  /** The tenants that may read the frame, in order. */
  async list(principal: Principal, name: FrameName, options: Signal): Promise<Tenant[]> {
    const frame = await this.#ownFrame(principal, name, options);
    const readers: Tenant[] = [];
    for (const share of this.#records.shares.ofFrame(principal.tenant, frame.handle)) {
      const origin = await this.#records.shares.originOf(share);
      if (frame.state === 'damaged' || origin === frame.origin) readers.push(share.reader);
    }
    return readers.sort();
  }

  async share(principal: Principal, name: FrameName, reader: Tenant, options: Signal): Promise<Handle> {
    const frame = await this.#ownFrame(principal, name, options);
    const { handle } = frame;
    if (reader === principal.tenant) {
      throw new AppError('invalid_parameter', `${reader} is your own tenant, which has ${handle}`, {
        hint: 'name another one',
      });
    }
    if (frame.state === 'damaged') throw frameDamaged(handle, frame.reason);
    await refuseSharedView(this.#frames, asReaderOf(principal, principal.tenant), frame);
    await this.#records.shares.add({ owner: principal.tenant, handle, reader }, frame.origin);
    return handle;
  }

  async unshare(principal: Principal, name: FrameName, reader: Tenant, options: Signal): Promise<Handle> {
    const { handle } = await this.#ownFrame(principal, name, options);
    if (await this.#records.shares.remove({ owner: principal.tenant, handle, reader })) return handle;
    throw new AppError('not_found', `${handle} is not shared with ${reader}`, {
      hint: `GET /handles/${handle}/shares lists with whom it is`,
    });
  }

  async #ownFrame(
    principal: Principal,
    name: FrameName,
    options: Signal,
  ): Promise<FrameSummary & { readonly handle: Handle }> {
    assertMay(principal, 'manageShares');
    const frame = await this.#frames.describe(principal, name, options);
    const { handle } = frame;
    if (isSharedName(handle)) throw onlyOwnerChanges(handle);
    return { ...frame, handle };
  }
}

import { isTenant, type Principal, type Tenant } from '../callers/principal.ts';
import { type Handle, isHandle, parseHandle } from './handle.ts';

declare const sharedBrand: unique symbol;

/** `owner/handle`: a frame that another tenant shares. Minted only by `parseFrameName` and `sharedName`. */
export type SharedName = string & { readonly [sharedBrand]: true };

/** A frame as a caller names it: one's own by its handle, or another tenant's. */
export type FrameName = Handle | SharedName;

/** `/` stands in no handle. */
const separator = '/';

export function isSharedName(name: string): name is SharedName {
  return name.includes(separator);
}

export function sharedName(owner: Tenant, handle: Handle): SharedName {
  return `${owner}${separator}${handle}` as SharedName;
}

export function splitSharedName(name: SharedName): { readonly owner: Tenant; readonly handle: Handle } {
  const at = name.indexOf(separator);
  return { owner: name.slice(0, at) as Tenant, handle: name.slice(at + 1) as Handle };
}

/** The prefix of the names of all frames of the same owner. */
export function ownerPrefix(name: SharedName): string {
  return name.slice(0, name.indexOf(separator) + 1);
}

export function isFrameName(text: string): text is FrameName {
  const at = text.indexOf(separator);
  return at < 0 ? isHandle(text) : isTenant(text.slice(0, at)) && isHandle(text.slice(at + 1));
}

/** Throws `invalid_handle`, as `parseHandle` does. */
export function parseFrameName(text: string): FrameName {
  return isFrameName(text) ? text : parseHandle(text);
}

/** Readers of a shared view do not see its query, and a token with a prefix sees no names without it. */
export function maySeeQuery({ prefix = '' }: Principal, name: FrameName, reads: readonly string[]): boolean {
  return !isSharedName(name) && reads.every((read) => read.startsWith(prefix));
}

/** `owner/handle`, also for a caller's own frame: identifies a frame among those of all tenants. */
export function ownedName(tenant: Tenant, name: FrameName): string {
  return isSharedName(name) ? name : `${tenant}${separator}${name}`;
}

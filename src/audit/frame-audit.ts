import type { Frames } from '../frames/frames.ts';

/** The frames, with a note of everything that is done to one for the audit of its request. */
export class FrameAudit implements Frames {
  readonly #frames: Frames;

  constructor(frames: Frames) {
    this.#frames = frames;
  }

  readonly read: Frames['read'] = async (principal, request, options) => {
    const note = principal.notes?.frame(request.handle, 'read');
    const rows = await this.#frames.read(principal, request, options);
    if (note !== undefined) note.version = rows.version;
    principal.notes?.addRows(rows.count);
    return rows;
  };

  readonly peek: Frames['peek'] = (principal, handle) => {
    principal.notes?.frame(handle, 'read');
    return this.#frames.peek(principal, handle);
  };

  readonly open: Frames['open'] = async (principal, handle, options) => {
    const note = principal.notes?.frame(handle, 'read');
    const reader = await this.#frames.open(principal, handle, options);
    if (note !== undefined) note.version = reader.version;
    return reader;
  };

  readonly openParts: Frames['openParts'] = async (principal, selection, options) => {
    const note = principal.notes?.frame(selection.handle, 'read');
    const parts = await this.#frames.openParts(principal, selection, options);
    if (note !== undefined) note.version = parts.version;
    principal.notes?.addRows(parts.count);
    return parts;
  };

  readonly list: Frames['list'] = (principal, options) => this.#frames.list(principal, options);

  readonly describe: Frames['describe'] = async (principal, handle, options) => {
    const note = principal.notes?.frame(handle, 'describe');
    const frame = await this.#frames.describe(principal, handle, options);
    if (note !== undefined) note.version = frame.version;
    return frame;
  };

  readonly watch: Frames['watch'] = (principal, handle, wake, options) => {
    principal.notes?.frame(handle, 'read');
    return this.#frames.watch(principal, handle, wake, options);
  };

  readonly watchAll: Frames['watchAll'] = (principal, tell, options) => this.#frames.watchAll(principal, tell, options);

  readonly assertMayWrite: Frames['assertMayWrite'] = (principal) => this.#frames.assertMayWrite(principal);

  readonly appendColumns: Frames['appendColumns'] = (principal, handle) =>
    this.#frames.appendColumns(principal, handle);

  readonly put: Frames['put'] = async (principal, request, options) => {
    const { notes } = principal;
    const note = request.handle === undefined ? undefined : notes?.frame(request.handle, request.mode);
    const held = await this.#frames.put(principal, request, options);
    if (notes === undefined) return held;
    (note ?? notes.frame(held.handle, request.mode)).version = held.version;
    notes.addRows(held.rowsPut);
    notes.addBytes(held.bytes);
    notes.changed();
    return held;
  };

  readonly redefine: Frames['redefine'] = async (principal, request) => {
    const note = principal.notes?.frame(request.handle, 'alter');
    const held = await this.#frames.redefine(principal, request);
    if (note !== undefined) note.version = held.version;
    principal.notes?.changed();
    return held;
  };

  readonly change: Frames['change'] = async (principal, request, options) => {
    const { notes } = principal;
    const note = notes?.frame(request.handle, 'change');
    const held = await this.#frames.change(principal, request, options);
    if (note !== undefined) note.version = held.version;
    notes?.changed();
    return held;
  };

  readonly saveView: Frames['saveView'] = async (principal, request, options) => {
    const mode = request.ifTaken === 'replace' ? 'overwrite' : 'create';
    const note = principal.notes?.frame(request.handle, mode);
    const held = await this.#frames.saveView(principal, request, options);
    if (note !== undefined) note.version = held.version;
    principal.notes?.changed();
    return held;
  };

  readonly definitions: Frames['definitions'] = (principal) => this.#frames.definitions(principal);

  readonly define: Frames['define'] = async (principal, definition, ifTaken) => {
    const { notes } = principal;
    if (notes !== undefined) notes.object = `${definition.kind} ${definition.name}`;
    const isDefined = await this.#frames.define(principal, definition, ifTaken);
    if (isDefined) notes?.changed();
    return isDefined;
  };

  readonly undefine: Frames['undefine'] = async (principal, definition) => {
    const { notes } = principal;
    if (notes !== undefined) notes.object = `${definition.kind} ${definition.name}`;
    const isDropped = await this.#frames.undefine(principal, definition);
    if (isDropped) notes?.changed();
    return isDropped;
  };

  readonly refusePut: Frames['refusePut'] = async (principal, request) => {
    if (request.handle !== undefined) principal.notes?.frame(request.handle, request.mode);
    await this.#frames.refusePut(principal, request);
  };

  readonly use: Frames['use'] = (principal) => this.#frames.use(principal);

  readonly drop: Frames['drop'] = async (principal, handle, options) => {
    const note = principal.notes?.frame(handle, 'drop');
    const version = await this.#frames.drop(principal, handle, options);
    if (note !== undefined) note.version = version;
    principal.notes?.changed();
    return version;
  };

  readonly flush: Frames['flush'] = async (principal, handle) => {
    const note = principal.notes?.frame(handle, 'flush');
    const held = await this.#frames.flush(principal, handle);
    if (note !== undefined) note.version = held.version;
    principal.notes?.changed();
    return held;
  };

  readonly renew: Frames['renew'] = async (principal, handle, ttlMs) => {
    const note = principal.notes?.frame(handle, 'renew');
    const held = await this.#frames.renew(principal, handle, ttlMs);
    if (note !== undefined) note.version = held.version;
    principal.notes?.changed();
    return held;
  };

  readonly temporaryFile: Frames['temporaryFile'] = (...call) => this.#frames.temporaryFile(...call);

  readonly incomingFolder: Frames['incomingFolder'] = (principal) => this.#frames.incomingFolder(principal);

  readonly writeParquet: Frames['writeParquet'] = (principal, request, options) =>
    this.#frames.writeParquet(principal, request, options);

  readonly preview: Frames['preview'] = (principal, request, options) =>
    this.#frames.preview(principal, request, options);
}

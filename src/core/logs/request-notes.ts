/** An operation on a frame. */
export type FrameDeed =
  | 'read'
  | 'describe'
  | 'create'
  | 'overwrite'
  | 'append'
  | 'change'
  | 'drop'
  | 'alter'
  | 'renew'
  | 'flush';

export interface FrameNote {
  readonly handle: string;
  readonly action: FrameDeed;
  /** Undefined where it was refused, or where there is none. */
  version?: number | undefined;
}

/** More of one request are only counted. */
const mostFrames = 100;

/** The operations of a request so far, for its line of the audit. */
export class RequestNotes {
  readonly frames: FrameNote[] = [];
  /** Frames beyond the listed ones. */
  moreFrames = 0;
  /** An object other than a frame: a token, a tenant, an action of Flight. */
  object: string | undefined;
  sql: string | undefined;
  engine: string | undefined;
  /** Read or written. */
  rows: number | undefined;
  bytes: number | undefined;
  #changes = 0;
  /** Called at a change after the line was written: the client had left. */
  onLateChange: (() => void) | undefined;

  /** The number of changes. */
  get changes(): number {
    return this.#changes;
  }

  changed(): void {
    this.#changes++;
    this.onLateChange?.();
  }

  /** To be called before the frame is looked at, so that a refusal names it too. */
  frame(handle: string, action: FrameDeed): FrameNote {
    const known = this.frames.find((note) => note.handle === handle && note.action === action);
    if (known !== undefined) return known;
    const note: FrameNote = { handle, action };
    if (this.frames.length < mostFrames) this.frames.push(note);
    else this.moreFrames++;
    return note;
  }

  statement({ sql, engine }: { readonly sql: string; readonly engine: string }): void {
    this.sql = sql;
    this.engine = engine;
  }

  addRows(rows: number): void {
    this.rows = (this.rows ?? 0) + rows;
  }

  addBytes(bytes: number): void {
    this.bytes = (this.bytes ?? 0) + bytes;
  }
}

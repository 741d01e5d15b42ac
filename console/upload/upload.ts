import { computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { Answer } from '#client/api.ts';
import { FrameholdError } from '#client/errors.ts';
import { formatOfName, previewBytes } from '../../src/core/rows/file-format.ts';
import { isAbort } from '../api/api-error.ts';
import { call, getJson, request, withQuery } from '../api/request.ts';
import { handleFault, handleForFile, isPacked } from './file-name.ts';
import { type ImportMode, type ImportOptions, importParameters, schemaOf } from './import-options.ts';

export type ImportPreview = Extract<Answer<'POST /imp'>, { readonly preview: true }>;
export type Rejection = ImportPreview['rejections'][number];
export type ImportAnswer = Extract<Answer<'POST /imp'>, { readonly rowsImported: number }>;

export type PreviewState =
  /** For a format with types of its own, or a compressed file. */
  | { readonly kind: 'none' }
  | { readonly kind: 'loading'; readonly before: ImportPreview | undefined }
  | { readonly kind: 'shown'; readonly preview: ImportPreview }
  | { readonly kind: 'failed'; readonly error: unknown };

export type Target =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'free' }
  | { readonly kind: 'taken'; readonly rows: number | null }
  | { readonly kind: 'failed'; readonly error: unknown };

export type Phase =
  | { readonly kind: 'ready' }
  | { readonly kind: 'waiting' }
  | { readonly kind: 'sending'; readonly sent: number; readonly bytesPerSecond: number | undefined }
  /** All is sent; the server reads it. */
  | { readonly kind: 'reading'; readonly sinceMs: number }
  | { readonly kind: 'done'; readonly answer: ImportAnswer }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'cancelled' };

/** A URL has at most 16 kB with the other headers: longer ones go into a form. */
const longestSchema = 4000;
const settleMs = 300;

/** An upload of a file to a frame. It continues in every view. */
export class Upload {
  readonly id: number;
  readonly file: File;
  readonly handle: Signal<string>;
  readonly options: Signal<ImportOptions>;
  /** The action on an existing frame; undefined until the user decides. */
  readonly whenTaken = signal<'overwrite' | 'append' | undefined>(undefined);
  readonly target = signal<Target>({ kind: 'unknown' });
  readonly preview = signal<PreviewState>({ kind: 'none' });
  readonly phase = signal<Phase>({ kind: 'ready' });
  readonly fault: ReadonlySignal<string | undefined>;
  readonly mode: ReadonlySignal<ImportMode>;
  readonly mayStart: ReadonlySignal<boolean>;
  #sending: AbortController | undefined;
  readonly #ends: (() => void)[] = [];

  constructor(id: number, file: File, prefix: string) {
    this.id = id;
    this.file = file;
    this.handle = signal(handleForFile(file.name, prefix));
    this.options = signal<ImportOptions>({
      format: formatOfName(file.name),
      delimiter: undefined,
      header: undefined,
      skipsBadRows: false,
      types: new Map(),
    });
    this.fault = computed(() => handleFault(this.handle.value));
    this.mode = computed(() => (this.target.value.kind === 'taken' ? (this.whenTaken.value ?? 'create') : 'create'));
    this.mayStart = computed(() => {
      const isDecided = this.target.value.kind !== 'taken' || this.whenTaken.value !== undefined;
      const { kind } = this.phase.value;
      return (
        isDecided &&
        this.fault.value === undefined &&
        this.target.value.kind !== 'unknown' &&
        isAtRest(kind) &&
        kind !== 'done'
      );
    });
    this.#ends.push(
      this.#whenSettled(
        () => [this.handle.value],
        (abort) => this.#lookUp(abort),
      ),
    );
    this.#ends.push(
      this.#whenSettled(
        () => [this.options.value, this.mode.value, this.mode.value === 'append' && this.handle.value],
        (abort) => this.#readPreview(abort),
      ),
    );
  }

  get isUnderWay(): boolean {
    return !isAtRest(this.phase.peek().kind);
  }

  change(options: Partial<ImportOptions>): void {
    this.options.value = { ...this.options.peek(), ...options };
  }

  /** Undefined: the type that was found. */
  chooseType(column: string, chosen: { readonly type: string; readonly pattern: string } | undefined): void {
    const types = new Map(this.options.peek().types);
    if (chosen === undefined) types.delete(column);
    else types.set(column, chosen);
    this.change({ types });
  }

  async send(): Promise<void> {
    const sending = new AbortController();
    this.#sending = sending;
    const { file } = this;
    const startedMs = performance.now();
    this.phase.value = { kind: 'sending', sent: 0, bytesPerSecond: undefined };
    try {
      const [path, body] = this.#request();
      const answer = await request(path, {
        method: 'POST',
        body,
        // The system's media type is often wrong.
        headers: { 'content-type': body instanceof File ? 'application/octet-stream' : undefined },
        signal: sending.signal,
        onSent: (bytes) => {
          // A form is a little longer than its file.
          const sent = Math.min(bytes, file.size);
          const seconds = (performance.now() - startedMs) / 1000;
          this.phase.value =
            sent < file.size
              ? { kind: 'sending', sent, bytesPerSecond: seconds > 0.5 ? sent / seconds : undefined }
              : { kind: 'reading', sinceMs: performance.now() };
        },
      });
      this.phase.value = { kind: 'done', answer: (await answer.json()) as ImportAnswer };
    } catch (error) {
      this.phase.value = isAbort(error) || sending.signal.aborted ? { kind: 'cancelled' } : { kind: 'failed', error };
      // Another user may have made the frame meanwhile.
      if (error instanceof FrameholdError && error.code === 'handle_exists')
        void this.#lookUp(new AbortController().signal);
    } finally {
      this.#sending = undefined;
    }
  }

  cancel(): void {
    this.#sending?.abort();
    if (this.phase.peek().kind === 'waiting') this.phase.value = { kind: 'cancelled' };
  }

  dispose(): void {
    this.cancel();
    for (const end of this.#ends) end();
  }

  #request(): [path: string, body: File | FormData] {
    const { file } = this;
    const options = this.options.peek();
    const parameters = importParameters(this.handle.peek(), this.mode.peek(), options);
    const schema = this.mode.peek() === 'append' ? undefined : schemaOf(options.types);
    if (schema === undefined || schema.length <= longestSchema) {
      return [withQuery('/imp', { ...parameters, schema }), file];
    }
    const form = new FormData();
    form.append('schema', schema);
    form.append('data', file, 'data');
    return [withQuery('/imp', parameters), form];
  }

  async #lookUp(abort: AbortSignal): Promise<void> {
    if (this.fault.peek() !== undefined) return;
    const handle = this.handle.peek();
    try {
      // Not GET /handles/{handle}: a name that is free would be an error in the browser's log.
      const { handles } = await call('GET /handles', { query: { prefix: handle, limit: 1 }, signal: abort });
      const [first] = handles;
      this.target.value = first?.handle === handle ? { kind: 'taken', rows: first.rows } : { kind: 'free' };
    } catch (error) {
      if (!abort.aborted) this.target.value = { kind: 'failed', error };
    }
  }

  async #readPreview(abort: AbortSignal): Promise<void> {
    const { file } = this;
    const options = this.options.peek();
    const { format } = options;
    if (isPacked(file.name) || format === 'parquet' || format === 'arrow') {
      this.preview.value = { kind: 'none' };
      return;
    }
    const before = this.preview.peek();
    this.preview.value = { kind: 'loading', before: before.kind === 'shown' ? before.preview : undefined };
    const mode = this.mode.peek();
    const schema = mode === 'append' ? undefined : schemaOf(options.types);
    const parameters = { ...importParameters(this.handle.peek(), mode, options), fmt: undefined, preview: true };
    const isLong = schema !== undefined && schema.length > longestSchema;
    // One more shows that the file is longer: the server cuts it behind a whole row.
    const beginning = file.slice(0, previewBytes + 1, 'application/octet-stream');
    const form = new FormData();
    if (isLong) form.append('schema', schema);
    form.append('data', beginning, 'data');
    try {
      const preview = await getJson<ImportPreview>(
        withQuery('/imp', { ...parameters, schema: isLong ? undefined : schema }),
        { method: 'POST', body: isLong ? form : beginning, signal: abort },
      );
      this.preview.value = { kind: 'shown', preview };
    } catch (error) {
      if (abort.aborted) return;
      // The bytes show that it is Parquet or Arrow.
      const hasOwnTypes = error instanceof FrameholdError && error.message.startsWith('preview is given');
      this.preview.value = hasOwnTypes ? { kind: 'none' } : { kind: 'failed', error };
    }
  }

  /** Runs the task at once, and again when its dependencies have not changed for a moment; an older run is aborted. */
  #whenSettled(depends: () => readonly unknown[], task: (abort: AbortSignal) => Promise<void>): () => void {
    let run = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isFirst = true;
    const stop = effect(() => {
      depends();
      run.abort();
      clearTimeout(timer);
      run = new AbortController();
      const { signal: abort } = run;
      timer = setTimeout(() => void task(abort), isFirst ? 0 : settleMs);
      isFirst = false;
    });
    return () => {
      stop();
      clearTimeout(timer);
      run.abort();
    };
  }
}

function isAtRest(kind: Phase['kind']): boolean {
  return kind !== 'waiting' && kind !== 'sending' && kind !== 'reading';
}

import { descriptorsIn, type SystemCall, textsIn } from '../harness/system-calls.ts';

/** What a system call does to files; `file` tells files apart whatever their names are. */
export type DiskEvent = { readonly beganAt: number; readonly endedAt: number } & (
  | { readonly kind: 'sync'; readonly file: string; readonly path: string }
  /** `isDurable`: to a file that was opened so that a write returns when it is on the disk. */
  | { readonly kind: 'change'; readonly file: string; readonly path: string; readonly isDurable: boolean }
  | { readonly kind: 'place'; readonly file: string; readonly from: string; readonly path: string }
  | { readonly kind: 'make folder' | 'remove'; readonly path: string }
);

export const diskCalls = [
  ...['write', 'writev', 'pwrite64', 'pwritev', 'ftruncate', 'fallocate', 'sendfile', 'copy_file_range'],
  ...['fsync', 'fdatasync', 'rename', 'renameat', 'renameat2', 'link', 'linkat', 'mkdir', 'mkdirat'],
  ...['unlink', 'unlinkat', 'rmdir', 'open', 'openat'],
];

/** Names of files as they come and go, by which the same file is known under all of them. */
class Names {
  readonly #files = new Map<string, string>();
  readonly #durable = new Set<string>();
  #lastFile = 0;

  noteDurable(path: string): void {
    this.#durable.add(this.file(path));
  }

  isDurable(path: string): boolean {
    return this.#durable.has(this.file(path));
  }

  file(path: string): string {
    const known = this.#files.get(path) ?? `file ${++this.#lastFile}`;
    this.#files.set(path, known);
    return known;
  }

  link(from: string, to: string): void {
    this.#files.set(to, this.file(from));
  }

  rename(from: string, to: string): void {
    this.file(from);
    for (const [path, file] of [...this.#files]) {
      if (path !== from && !path.startsWith(`${from}/`)) continue;
      this.#files.delete(path);
      this.#files.set(to + path.slice(from.length), file);
    }
  }

  remove(path: string): void {
    this.#files.delete(path);
  }
}

/** What calls did below `folder`. */
export function diskEventsIn(calls: readonly SystemCall[], folder: string): DiskEvent[] {
  const names = new Names();
  return calls.map((call) => diskEvent(call, names)).filter((event) => event?.path.startsWith(folder)) as DiskEvent[];
}

function diskEvent({ name, args, beganAt, endedAt }: SystemCall, names: Names): DiskEvent | undefined {
  const when = { beganAt, endedAt };
  const descriptors = descriptorsIn(args);
  const [from = '', to = ''] = textsIn(args);
  switch (name) {
    case 'fsync':
    case 'fdatasync': {
      const [path = ''] = descriptors;
      return { kind: 'sync', file: names.file(path), path, ...when };
    }
    case 'write':
    case 'writev':
    case 'pwrite64':
    case 'pwritev':
    case 'ftruncate':
    case 'fallocate':
    case 'sendfile':
    case 'copy_file_range': {
      const path = descriptors[name === 'copy_file_range' ? 1 : 0] ?? '';
      return { kind: 'change', file: names.file(path), path, isDurable: names.isDurable(path), ...when };
    }
    case 'link':
    case 'linkat':
      names.link(from, to);
      return { kind: 'place', file: names.file(to), from, path: to, ...when };
    case 'rename':
    case 'renameat':
    case 'renameat2':
      names.rename(from, to);
      return { kind: 'place', file: names.file(to), from, path: to, ...when };
    case 'mkdir':
    case 'mkdirat':
      return { kind: 'make folder', path: from, ...when };
    case 'unlink':
    case 'unlinkat':
    case 'rmdir':
      names.remove(from);
      return { kind: 'remove', path: from, ...when };
    case 'open':
    case 'openat':
      if (args.includes('O_DSYNC')) names.noteDurable(from);
      return undefined;
    default:
      return undefined;
  }
}

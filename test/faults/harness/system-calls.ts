/** A system call that succeeded, as strace tells of it. */
export interface SystemCall {
  readonly name: string;
  /** As strace writes them. */
  readonly args: string;
  readonly result: string;
  /** Lines of the trace: whatever ended on an earlier line had happened before this began. */
  readonly beganAt: number;
  readonly endedAt: number;
}

/** The calls of a trace that was written with `-f`, in the order in which they ended. Those that failed are left out. */
export function systemCallsIn(trace: string): SystemCall[] {
  const calls: SystemCall[] = [];
  const unfinished = new Map<string, { name: string; args: string; beganAt: number }>();
  for (const [line, text] of trace.split('\n').entries()) {
    const [, thread = '', rest = ''] = /^(\d+) +(.*)$/.exec(text) ?? [];
    const begun = /^(\w+)\((.*?),? *<unfinished \.\.\.>$/.exec(rest);
    if (begun !== null) {
      unfinished.set(thread, { name: begun[1] ?? '', args: begun[2] ?? '', beganAt: line });
      continue;
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*?)\) += ([^-].*)$/.exec(rest);
    const whole = /^(\w+)\((.*)\) += ([^-].*)$/.exec(rest);
    const before = unfinished.get(thread);
    if (resumed !== null && before !== undefined) {
      const args = `${before.args}${resumed[1]}`;
      calls.push({ ...before, args, result: resumed[2] ?? '', endedAt: line });
    } else if (whole !== null) {
      const [, name = '', args = '', result = ''] = whole;
      calls.push({ name, args, result, beganAt: line, endedAt: line });
    }
  }
  return calls;
}

/** The texts among the arguments, with their escapes undone. */
export function textsIn(args: string): string[] {
  return [...args.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, escaped = '']) =>
    escaped.replaceAll(/\\(?:x([0-9a-f]{2})|([0-7]{1,3})|(.))/g, (_, hex, octal, letter) => {
      if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
      return ({ n: '\n', r: '\r', t: '\t', v: '\v', f: '\f' } as Record<string, string>)[letter] ?? letter;
    }),
  );
}

/** What the file descriptors among the arguments, or of a result, stand for: paths, and `socket:[number]`. */
export function descriptorsIn(args: string): string[] {
  return [...args.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""').matchAll(/\b(?:\d+|AT_FDCWD)<((?:->|[^<>])*)>/g)].map(
    ([, name = '']) => name,
  );
}

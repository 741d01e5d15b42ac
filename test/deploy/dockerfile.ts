/** One instruction of a Dockerfile; its lines are joined. */
export interface Instruction {
  /** In capitals. */
  readonly keyword: string;
  /** Without its flags. */
  readonly text: string;
  readonly flags: Readonly<Record<string, string>>;
}

export interface Stage {
  readonly image: string;
  readonly name: string | undefined;
  readonly instructions: readonly Instruction[];
}

export function parseDockerfile(file: string): readonly Stage[] {
  const stages: { image: string; name: string | undefined; instructions: Instruction[] }[] = [];
  const joined = file.replaceAll(/^\s*#.*\n/gm, '').replaceAll(/\\\n\s*/g, '');
  for (const line of joined.split('\n').filter((each) => each.trim() !== '')) {
    const [, keyword = '', given = '', text = ''] = /^(\w+)\s+((?:--\S+\s+)*)(.*)$/.exec(line) ?? [];
    const flags = Object.fromEntries([...given.matchAll(/--([\w-]+)=(\S+)/g)].map(([, name, value]) => [name, value]));
    if (keyword === 'FROM') {
      const [image = '', , name] = text.split(/\s+/);
      stages.push({ image, name, instructions: [] });
    } else {
      stages.at(-1)?.instructions.push({ keyword, text, flags });
    }
  }
  return stages;
}

/** The arguments of the form that starts no shell. */
export function execForm(text: string): readonly string[] {
  return JSON.parse(text.replace(/^CMD\s+/, '')) as string[];
}

/** The variables of an ENV or LABEL. */
export function pairsOf(text: string): Readonly<Record<string, string>> {
  const pairs = text.matchAll(/([\w.]+)=(?:"([^"]*)"|(\S+))/g);
  return Object.fromEntries([...pairs].map(([, name, quoted, plain]) => [name, quoted ?? plain ?? '']));
}

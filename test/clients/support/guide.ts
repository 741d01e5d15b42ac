import { readFileSync } from 'node:fs';

export interface GuideBlock {
  readonly language: string;
  readonly code: string;
  /** Before a server with TLS and tokens. */
  readonly isSecure: boolean;
  /** Undefined where the guide does not say what it prints. */
  readonly prints: string | undefined;
}

const block = /^<!-- run( with TLS)? -->\n```(\w+)\n([\s\S]*?)^```\n(?:\n<!-- prints -->\n```\n([\s\S]*?)^```\n)?/gm;

/** The code of a guide that is marked to be run: `<!-- run -->` or `<!-- run with TLS -->`, and below it what it `<!-- prints -->`. */
export function guideBlocks(guide: string): readonly GuideBlock[] {
  const text = readFileSync(new URL(`../../../docs/guides/${guide}`, import.meta.url), 'utf8');
  const blocks = [...text.matchAll(block)].map(([, secure, language = '', code = '', prints]) => {
    return { language, code, isSecure: secure !== undefined, prints };
  });
  const marks = text.match(/^<!-- (?:run|prints)\b.*-->$/gm)?.length ?? 0;
  const found = blocks.length + blocks.filter(({ prints }) => prints !== undefined).length;
  if (blocks.length === 0 || marks !== found)
    throw new Error(`${guide} has ${marks} marks, of which ${found} are at code`);
  return blocks;
}

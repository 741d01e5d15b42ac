import { readFileSync } from 'node:fs';

export interface GuideBlock {
  readonly language: string;
  readonly code: string;
  /** Undefined where the guide does not say what it prints. */
  readonly prints: string | undefined;
}

const block = /^<!-- run -->\n```(\w+)\n([\s\S]*?)^```\n(?:\n<!-- prints -->\n```\n([\s\S]*?)^```\n)?/gm;

/** The code of a guide that is marked to be run: `<!-- run -->`, and below it what it `<!-- prints -->`. */
export function guideBlocks(guide: string): readonly GuideBlock[] {
  const text = readFileSync(new URL(`../../../docs/guides/${guide}`, import.meta.url), 'utf8');
  const blocks = [...text.matchAll(block)].map(([, language = '', code = '', prints]) => ({ language, code, prints }));
  const marks = text.match(/^<!-- (?:run|prints) -->$/gm)?.length ?? 0;
  const found = blocks.length + blocks.filter(({ prints }) => prints !== undefined).length;
  if (blocks.length === 0 || marks !== found)
    throw new Error(`${guide} has ${marks} marks, of which ${found} are at code`);
  return blocks;
}

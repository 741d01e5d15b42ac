import { readFileSync } from 'node:fs';

/** The text below a heading of a guide, with the headings below that, up to the next one of its level. */
export function guideSection(guide: string, heading: string): string {
  const text = readFileSync(new URL(`../../docs/guides/${guide}`, import.meta.url), 'utf8');
  const lines = text.split('\n');
  const start = lines.indexOf(heading);
  if (start < 0) throw new Error(`${guide} has no line «${heading}»`);
  const level = heading.indexOf(' ');
  const end = lines.findIndex((line, at) => at > start && /^#+ /.test(line) && line.indexOf(' ') <= level);
  return lines.slice(start + 1, end < 0 ? undefined : end).join('\n');
}

/** Its commands, one text for each block of `language`. Throws where there is none. */
export function codeBlocks(section: string, language: string): readonly string[] {
  const blocks = [...section.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))];
  if (blocks.length === 0) throw new Error(`the section has no code in ${language}`);
  return blocks.map(([, code = '']) => code);
}

import type { ImportAnswer } from './answer.ts';

/** The answer as QuestDB gives it to a form without fmt=json, to the letter. */
export function importTextTable(answer: ImportAnswer): string {
  const { location, timestamp, rowsImported, rowsRejected, columns } = answer;
  const lines = [
    rule,
    `|${left('Location:')}|${middle(location)}|        Pattern  | Locale  |      Errors  |`,
    fact('Partition by', answer.partitionBy),
    fact('Timestamp', timestamp ?? 'NONE'),
    rule,
    fact('Rows handled', String(rowsImported + rowsRejected)),
    fact('Rows imported', String(rowsImported)),
    rule,
    ...columns.map(
      ({ name, type, errors }, index) =>
        `|${left(String(index))}|${middle(name)}|${type.padStart(25)}  |${String(errors).padStart(12)}  |`,
    ),
    rule,
  ];
  return lines.map((line) => `${line}\r\n`).join('');
}

const rule = `+${'-'.repeat(113)}+`;

function fact(name: string, value: string): string {
  return `|${left(name)}|${middle(value)}|                 |         |              |`;
}

function left(text: string): string {
  return `${text.padStart(15)}  `;
}

/** A long text loses its beginning. Control characters would break the lines. */
function middle(text: string): string {
  const shown = text.replaceAll(/\p{Cc}/gu, ' ');
  return `${(shown.length > 50 ? `...${shown.slice(-47)}` : shown).padStart(50)}  `;
}

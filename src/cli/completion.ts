import { configFileNames, settingRows } from '../config/setting-rows.ts';
import {
  clientTables,
  completionTable,
  directoryTables,
  serverFlags,
  serverSummaries,
} from './framework/command-tables.ts';
import type { Environment } from './framework/environment.ts';
import type { CommandTable, Flag, FlagTable, Given } from './framework/flag-table.ts';

const settingFlags: FlagTable = Object.fromEntries([
  ...settingRows.map(({ flag, help, type }) => [flag.slice(2), { value: type.placeholder, help }] as const),
  [configFileNames.flag.slice(2), { value: 'FILE', help: 'TOML file with these settings' }] as const,
]);

const tables: Readonly<Record<string, Pick<CommandTable, 'flags' | 'summary' | 'operands'>>> = {
  ...clientTables,
  ...directoryTables,
  completion: completionTable,
  ...Object.fromEntries(
    Object.entries(serverSummaries).map(([name, summary]) => [
      name,
      {
        flags: { ...settingFlags, ...serverFlags[name as keyof typeof serverSummaries] },
        summary,
        operands: { shown: '', least: 0, most: 0 },
      },
    ]),
  ),
};

const names = Object.keys(tables);
/** Prints the handles that there are. */
const listHandles = 'framehold ls 2>/dev/null | cut -f1';
/** Prints the engines that there are. */
const listEngines = 'framehold engines 2>/dev/null | cut -f1';
const takesHandles = names.filter((name) => tables[name]?.operands.shown.startsWith('HANDLE'));
const takesFiles = names.filter((name) => tables[name]?.operands.shown.match(/^(FILE|DEST|SOURCE)/));

/** `framehold completion` */
export async function completion(
  environment: Environment,
  { operands }: Given<typeof completionTable>,
): Promise<number> {
  environment.stdout.write(scripts[operands[0] as keyof typeof scripts]());
  return 0;
}

const scripts = { bash, zsh, fish } as const;

function isFileFlag({ value }: Flag): boolean {
  return value === 'FILE' || value === 'DIR' || value === 'path';
}

function flagsOf(name: string): string {
  const flags = Object.entries(tables[name]?.flags ?? {}).map(([flag]) => `--${flag}`);
  return [...flags, '--help'].join(' ');
}

/** For each flag with a list of values: `get:--format`, and the list. */
function choiceCases(): (readonly [string, string])[] {
  return names.flatMap((name) =>
    Object.entries(tables[name]?.flags ?? {}).flatMap(([flag, { choices }]) =>
      choices === undefined ? [] : [[`${name}:--${flag}`, choices.join(' ')] as const],
    ),
  );
}

function fileFlagNames(): string[] {
  const flags = names.flatMap((name) => Object.entries(tables[name]?.flags ?? {}));
  const found = flags.filter(([, flag]) => isFileFlag(flag));
  return [
    ...new Set(found.flatMap(([name, { short }]) => [`--${name}`, ...(short === undefined ? [] : [`-${short}`])])),
  ];
}

function bash(): string {
  const offer = (words: string): string => `COMPREPLY=($(compgen -W "${words}" -- "$word"))`;
  return `# framehold: completion for bash
_framehold() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} command=\${COMP_WORDS[1]}
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    ${offer(names.join(' '))}
    return
  fi
  case "$command:$before" in
${choiceCases()
  .map(([flag, words]) => `    ${flag}) ${offer(words)}; return ;;`)
  .join('\n')}
  esac
  case "$before" in
    --engine) ${offer(`auto $(${listEngines})`)}; return ;;
    ${fileFlagNames().join('|')}) return ;;
  esac
  case "$word" in
    -*)
      case "$command" in
${names.map((name) => `        ${name}) ${offer(flagsOf(name))} ;;`).join('\n')}
      esac
      return ;;
  esac
  case "$command" in
    ${takesHandles.join('|')}) ${offer(`$(${listHandles})`)} ;;
    completion) ${offer('bash zsh fish')} ;;
  esac
}
complete -o default -F _framehold framehold
`;
}

function zsh(): string {
  return `#compdef framehold
# framehold: completion for zsh
_framehold() {
  local command=$words[2]
  if (( CURRENT == 2 )); then
    compadd -- ${names.join(' ')}
    return
  fi
  case "$command:$words[CURRENT-1]" in
${choiceCases()
  .map(([flag, words]) => `    ${flag}) compadd -- ${words}; return ;;`)
  .join('\n')}
  esac
  case "$words[CURRENT-1]" in
    --engine) compadd -- auto \${(f)"$(${listEngines})"}; return ;;
    ${fileFlagNames().join('|')}) _files; return ;;
  esac
  if [[ "$words[CURRENT]" == -* ]]; then
    case "$command" in
${names.map((name) => `      ${name}) compadd -- ${flagsOf(name)} ;;`).join('\n')}
    esac
    return
  fi
  case "$command" in
    ${takesHandles.join('|')}) compadd -- \${(f)"$(${listHandles})"} ;;
    ${takesFiles.join('|')}) _files ;;
    completion) compadd -- bash zsh fish ;;
  esac
}
compdef _framehold framehold
`;
}

function fish(): string {
  const quote = (text: string): string => `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
  const lines = names.flatMap((name) => {
    const { flags = {}, summary = '' } = tables[name] ?? {};
    const seen = `complete -c framehold -n '__fish_seen_subcommand_from ${name}'`;
    return [
      `complete -c framehold -n __fish_use_subcommand -a ${name} -d ${quote(summary)}`,
      ...Object.entries(flags).map(([flag, { short, value, choices, help }]) => {
        const parts = [seen, short === undefined ? '' : `-s ${short}`, `-l ${flag}`];
        if (value !== undefined) parts.push(isFileFlag({ value, help }) ? '-r -F' : '-x');
        if (choices !== undefined) parts.push(`-a ${quote(choices.join(' '))}`);
        if (flag === 'engine') parts.push(`-a ${quote(`auto (${listEngines})`)}`);
        return [...parts.filter(Boolean), `-d ${quote(help)}`].join(' ');
      }),
    ];
  });
  const operands = [
    ...takesHandles.map(
      (name) => `complete -c framehold -n '__fish_seen_subcommand_from ${name}' -a '(${listHandles})'`,
    ),
    ...takesFiles.map((name) => `complete -c framehold -n '__fish_seen_subcommand_from ${name}' -F`),
    `complete -c framehold -n '__fish_seen_subcommand_from completion' -a 'bash zsh fish'`,
  ];
  return `# framehold: completion for fish\ncomplete -c framehold -f\n${[...lines, ...operands].join('\n')}\n`;
}

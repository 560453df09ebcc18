// Lays the commands out as a page of Markdown.
import type { CommandNode, Entry, Section } from './tree.ts';

const INTRODUCTION = `# The command line

Every command of \`errand\`. \`npm run commands\` writes this page from the commands themselves; \`npm run check\` fails when it is
out of date. \`errand NOUN VERB --help\` shows the same, and so do the manual pages of the package (\`man errand-keys\`).
`;

/** The page's text. */
export function renderPage(program: CommandNode): string {
  const { verbs: nouns, options, sections } = program;
  const groups = Map.groupBy(nouns, ({ group }) => group);
  return [
    INTRODUCTION,
    '## For every command\n',
    entriesOf('Flag', options),
    ...sections.map((section) => sectionOf(section)),
    ...[...groups].flatMap(([group, members]) => [`## ${group.replace(/:$/, '')}\n`, ...members.flatMap(commandsOf)]),
  ].join('\n');
}

/** The command, then its verbs. */
function commandsOf(command: CommandNode): string[] {
  const { path, usage, description, verbs } = command;
  const head = `###${'#'.repeat(path.length - 1)} \`errand ${path.join(' ')}\`\n`;
  const call = verbs.length > 0 ? [] : [`\`\`\`\n${usage}\n\`\`\`\n`];
  return [
    head,
    `${description}\n`,
    ...call,
    entriesOf('Argument', command.arguments),
    entriesOf('Flag', command.options),
    ...command.sections.map((section) => sectionOf(section)),
    ...verbs.flatMap(commandsOf),
  ].filter((part) => part !== '');
}

function entriesOf(kind: string, entries: readonly Entry[]): string {
  if (entries.length === 0) return '';
  const rows = entries.map(({ term, about }) => `| \`${cell(term)}\` | ${cell(about)} |`);
  return [`| ${kind} | Meaning |`, '|---|---|', ...rows, ''].join('\n');
}

function sectionOf({ heading, lines }: Section): string {
  const isProse = lines.every((line) => !line.startsWith(' '));
  const body = isProse ? lines.map(prose).join('\n') : `\`\`\`\n${unindented(lines).join('\n')}\n\`\`\``;
  return heading === '' ? `${body}\n` : `${heading}:\n\n${body}\n`;
}

function unindented(lines: readonly string[]): readonly string[] {
  const margin = Math.min(...lines.filter((line) => line !== '').map((line) => line.search(/\S/)));
  return lines.map((line) => line.slice(margin));
}

const prose = (text: string) => text.replaceAll('<', '&lt;').replaceAll('*', String.raw`\*`);

/** Text that doesn't end the cell of a table. */
const cell = (text: string) => text.replaceAll('|', String.raw`\|`);

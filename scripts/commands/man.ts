// Lays the commands out as manual pages: one for the program, one for each noun, in the macros of man(7).
import type { CommandNode, Entry, Section } from './tree.ts';

/** The pages by the names of their files, such as `errand-keys.1`. */
export function renderManual(program: CommandNode, version: string): ReadonlyMap<string, string> {
  const nouns = program.verbs;
  const pages = nouns.map((noun): [string, string] => [`errand-${noun.path[0]}.1`, pageOfNoun(noun, version)]);
  return new Map([['errand.1', pageOfProgram(program, version)], ...pages]);
}

function pageOfProgram(program: CommandNode, version: string): string {
  const nouns = program.verbs.map(({ path, summary }) => ({ term: `errand-${path[0]}(1)`, about: summary }));
  return page('errand', version, [
    section('NAME', [`errand ${String.raw`\-`} ${escaped(program.description)}`]),
    section('SYNOPSIS', [bold(program.usage)]),
    section('OPTIONS', entries(program.options)),
    section('COMMANDS', entries(nouns)),
    ...program.sections.map(sectionOf),
  ]);
}

function pageOfNoun(noun: CommandNode, version: string): string {
  const name = `errand-${noun.path[0]}`;
  const verbs = noun.verbs.flatMap((verb) => [`.SS ${quoted(verb.usage)}`, ...body(verb)]);
  const { sections, ...rest } = noun;
  return page(name, version, [
    section('NAME', [`${escaped(name)} ${String.raw`\-`} ${escaped(noun.summary)}`]),
    section('SYNOPSIS', synopsisOf(noun)),
    section('DESCRIPTION', body({ ...rest, sections: [] })),
    section('COMMANDS', verbs),
    ...sections.map(sectionOf),
    section('SEE ALSO', ['The flags of every command, its environment and its exit codes:', '.BR errand (1)']),
  ]);
}

function synopsisOf({ verbs, usage }: CommandNode): string[] {
  if (verbs.length === 0) return [bold(usage)];
  return verbs.flatMap((verb, index) => [...(index === 0 ? [] : ['.br']), bold(verb.usage)]);
}

function body({ description, arguments: operands, options, sections }: CommandNode): string[] {
  const after = sections.flatMap(({ heading, lines }) => [
    '.PP',
    ...(heading === '' ? [] : [line(`${heading}:`)]),
    ...linesOf(lines),
  ]);
  return [line(description), ...entries(operands), ...entries(options), ...after];
}

/** A heading of the help becomes a heading of the page; text without one continues the page. */
function sectionOf({ heading, lines }: Section): string[] {
  return section(heading === '' ? 'NOTES' : heading.toUpperCase(), linesOf(lines));
}

function page(name: string, version: string, sections: readonly string[][]): string {
  const head = `.TH ${quoted(name.toUpperCase())} 1 "" ${quoted(`Errand ${version}`)} ${quoted('Errand')}`;
  // Without hyphenation and justification, commands can be copied.
  return `${[head, '.nh', '.ad l', ...sections.flat()].join('\n')}\n`;
}

const section = (heading: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [`.SH ${quoted(heading)}`, ...lines];

const entries = (items: readonly Entry[]): string[] =>
  items.flatMap(({ term, about }) => ['.TP', bold(term), line(about)]);

/** Indented lines are shown as they are. */
function linesOf(lines: readonly string[]): string[] {
  const isProse = lines.every((text) => !text.startsWith(' '));
  return isProse ? lines.map(line) : ['.nf', ...lines.map(line), '.fi'];
}

const bold = (text: string) => `.B ${escaped(text)}`;

const quoted = (text: string) => `"${escaped(text).replaceAll('"', String.raw`\(dq`)}"`;

/** A line of text; one that begins with a dot or a quote would be a macro. */
function line(text: string): string {
  const safe = escaped(text);
  return /^[.']/.test(safe) ? String.raw`\&${safe}` : safe;
}

/** A hyphen must stay one that can be copied. */
const escaped = (text: string) => text.replaceAll('\\', String.raw`\e`).replaceAll('-', String.raw`\-`);

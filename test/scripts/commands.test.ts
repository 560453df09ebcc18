import { expect, test } from 'vitest';
import { renderManual } from '../../scripts/commands/man.ts';
import { renderPage } from '../../scripts/commands/page.ts';
import { type CommandNode, readCommands } from '../../scripts/commands/tree.ts';

const program = await readCommands();
const all = (node: CommandNode): readonly CommandNode[] => [node, ...node.verbs.flatMap(all)];

/** A command whose texts need escapes in both formats. */
const AWKWARD: CommandNode = {
  path: ['awk'],
  usage: 'errand awk [options]',
  summary: 'awkward',
  description: ".dots begin it, and 'quotes'",
  group: 'Things:',
  arguments: [],
  options: [{ term: '--either <a|b>', about: String.raw`a|b, or a \ of its own` }],
  sections: [{ heading: 'Examples', lines: ['  errand awk --either a', '    errand awk --either b'] }],
  verbs: [],
};

test('every command has its flags, arguments and description on the page', () => {
  const page = renderPage(program);
  for (const { path, description, options, arguments: operands } of program.verbs.flatMap(all)) {
    expect(page).toContain(`# \`errand ${path.join(' ')}\`\n\n${description}\n`);
    for (const { term } of [...options, ...operands]) expect(page).toContain(`| \`${term.replaceAll('|', '\\|')}\` |`);
  }
});

test('every noun has a manual page that names all of its verbs, and is named by that of the program', () => {
  const pages = renderManual(program, '1.2.3');
  expect([...pages.keys()].toSorted()).toEqual(
    ['errand.1', ...program.verbs.map(({ path }) => `errand-${path[0]}.1`)].toSorted(),
  );
  for (const noun of program.verbs) {
    const page = pages.get(`errand-${noun.path[0]}.1`)!;
    for (const { usage } of noun.verbs) expect(page).toContain(`.SS "${usage.replaceAll('-', String.raw`\-`)}"\n`);
    expect(pages.get('errand.1')).toContain(
      `\n.B errand${String.raw`\-`}${noun.path[0]!.replaceAll('-', String.raw`\-`)}(1)\n`,
    );
  }
});

test('a manual page contains no text that is taken for a macro or an escape', () => {
  const page = renderManual({ ...program, verbs: [AWKWARD] }, '1.2.3').get('errand-awk.1')!;
  expect(page).toContain(String.raw`\&.dots begin it`);
  expect(page).toContain(String.raw`a|b, or a \e of its own`);
  expect(page).toContain('.SH "EXAMPLES"\n.nf\n');
  expect(page).toMatch(/^\.TH "ERRAND\\-AWK" 1 "" "Errand 1\.2\.3" "Errand"\n/);
});

test('a vertical bar ends no cell of a table, and indented lines keep their indentation', () => {
  const page = renderPage({ ...program, verbs: [AWKWARD] });
  expect(page).toContain(String.raw`| ${'`'}--either <a\|b>${'`'} | a\|b, or a \ of its own |`);
  expect(page).toContain('Examples:\n\n```\nerrand awk --either a\n  errand awk --either b\n```\n');
  expect(page).toContain('## Things\n\n### `errand awk`\n');
});

// Lays the rules out as a page: what is proven by which test, and what is not.
import { type Rule, type Standing, standingOf } from './rule.ts';

const INTRODUCTION = `# Rules and their proofs

The promises of the interface, section by section, and the tests that prove them. \`npm run rules\` writes this page from
\`scripts/rules/\`; \`npm run check\` fails when it is out of date, or when a test that it names no longer exists.
`;

const MARKS: Readonly<Record<Standing, string>> = {
  proven: '',
  'in part': '**proven in part** ',
  'not yet': '**NOT PROVEN YET** ',
};

/** The page's text. Titles with \`%s\` or \`$name\` stand for all rows of their table. */
export function renderPage(rules: readonly Rule[]): string {
  const open = rules.filter((rule) => standingOf(rule) !== 'proven');
  const count = (standing: Standing) => rules.filter((rule) => standingOf(rule) === standing).length;
  const summary = `${rules.length} rules: ${count('proven')} proven, ${count('in part')} in part, ${count('not yet')} not yet.`;
  const sections = Map.groupBy(rules, sectionOf);
  return [
    INTRODUCTION,
    `${summary}\n`,
    '## What is not proven\n',
    ...open.map((rule) => `- ${MARKS[standingOf(rule)]}${rule.id}: ${rule.missing ?? 'no test yet'}`),
    ...[...sections].flatMap(([section, own]) => [`\n## ${section}\n`, ...own.map(renderRule)]),
    '',
  ].join('\n');
}

/** Decisions are listed together, whatever their letter. */
function sectionOf({ id }: Rule): string {
  return id.startsWith('§') ? id.split(' ')[0]! : 'Decisions';
}

function renderRule(rule: Rule): string {
  const proofs = Object.entries(rule.proofs).flatMap(([file, titles]) =>
    titles.map((title) => `  - [${file}](../test/${file}): \`${title}\``),
  );
  const missing = rule.missing === undefined ? [] : [`  - ${MARKS[standingOf(rule)]}${rule.missing}`];
  return [`- **${rule.id}** ${rule.text}`, ...proofs, ...missing].join('\n');
}

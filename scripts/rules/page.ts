// Lays the rules out as a page: what is proven by which test, and what is not.
import type { Proof } from './proofs.ts';
import type { Rule, Section } from './rules.ts';

const INTRODUCTION = `# Rules and their proofs

The promises of the interface, section by section, and the tests that prove them. \`npm run rules\` writes this page from
\`scripts/rules/rules.md\` and the tags of the tests; \`npm run check\` fails when it is out of date, when a section has no
rule, or a rule has neither a test nor a reason. \`npx vitest run --tags-filter '§4.3*'\` runs the tests of a section.
`;

type Standing = 'proven' | 'in part' | 'not proven';

const MARKS: Readonly<Record<Standing, string>> = {
  proven: '',
  'in part': '**proven in part** ',
  'not proven': '**NOT PROVEN** ',
};

/** The page's text. Titles with \`%s\` or \`$name\` stand for all rows of their table. */
export function renderPage(sections: readonly Section[], proofs: readonly Proof[]): string {
  const rules = sections.flatMap((section) => section.rules);
  const standing = new Map(rules.map((rule) => [rule, standingOf(rule, proofs)]));
  const count = (wanted: Standing) => rules.filter((rule) => standing.get(rule) === wanted).length;
  return [
    INTRODUCTION,
    `${rules.length} rules: ${count('proven')} proven, ${count('in part')} in part, ${count('not proven')} not proven.\n`,
    '## What is not proven\n',
    ...rules.flatMap((rule) => openPart(rule, proofs).map((part) => `- ${rule.id}: ${part}`)),
    ...sections.flatMap((section) => [
      `\n## ${section.heading}\n`,
      ...section.rules.map((rule) => renderRule(rule, proofs)),
    ]),
    '',
  ].join('\n');
}

function standingOf({ id, open }: Rule, proofs: readonly Proof[]): Standing {
  if (!proofs.some(({ tags }) => tags.includes(id))) return 'not proven';
  return open === undefined ? 'proven' : 'in part';
}

function openPart(rule: Rule, proofs: readonly Proof[]): readonly string[] {
  return rule.open === undefined ? [] : [`${MARKS[standingOf(rule, proofs)]}${rule.open}`];
}

function renderRule(rule: Rule, proofs: readonly Proof[]): string {
  const own = proofs.filter(({ tags }) => tags.includes(rule.id));
  return [
    `- **${rule.id}** ${rule.text}`,
    ...own.map(({ file, title }) => `  - [${file}](../test/${file}): \`${title}\``),
    ...openPart(rule, proofs).map((part) => `  - ${part}`),
  ].join('\n');
}

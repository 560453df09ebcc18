// What is wrong with the rules and their tags.
import type { Proof } from './proofs.ts';
import type { Rule, Section } from './rules.ts';

/** One line each: rules without proof or reason, out of place or there twice, empty sections, and tags of no rule. */
export function faultsOf(sections: readonly Section[], proofs: readonly Proof[]): readonly string[] {
  const ids = sections.flatMap(({ rules }) => rules.map(({ id }) => id));
  const tags = new Set(proofs.flatMap((proof) => proof.tags));
  return [
    ...sections.filter(({ rules }) => rules.length === 0).map(({ heading }) => `${heading}: has no rule`),
    ...sections.flatMap((section) => section.rules.flatMap((rule) => faultsOfRule(rule, section, tags))),
    ...ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `${id}: is listed more than once`),
    ...proofs.flatMap(({ file, title, tags: own }) =>
      own.filter((tag) => !ids.includes(tag)).map((tag) => `test/${file}: "${title}" has the tag ${tag} of no rule`),
    ),
  ];
}

function faultsOfRule({ id, open }: Rule, { heading }: Section, tags: ReadonlySet<string>): readonly string[] {
  const [section = ''] = heading.split(' ');
  const own = section.startsWith('§') ? id.split('-')[0] === section : new RegExp(`^${section}\\d+(-|$)`).test(id);
  return [
    ...(own ? [] : [`${id}: is below the heading ${heading}`]),
    ...(tags.has(id) || open !== undefined ? [] : [`${id}: no test has it as a tag, and nothing says why`]),
  ];
}

// Reads rules.md: the sections of the specification and of the decisions, with their rules.
import { readFileSync } from 'node:fs';

export interface Rule {
  /** Its section and a name within it, such as `§4.3-rule-3` or `F9-media`: the tag of the tests that prove it. */
  readonly id: string;
  /** The rule in our own words. */
  readonly text: string;
  /** Why a part of it, or all, has no test that proves it; absent when nothing is left open. */
  readonly open?: string;
}

export interface Section {
  /** Its number or letter, and its title: `§4.3 Messages`, `F Public pages`. */
  readonly heading: string;
  readonly rules: readonly Rule[];
}

const HEADING = /^## (.+)$/;
const RULE = /^- \*\*(\S+)\*\* (.+)$/;
const OPEN = /^ {2}- open: (.+)$/;

/** The sections of the text, in its order; throws at a line below the first heading that is none of its forms. */
export function parseRules(text: string): readonly Section[] {
  const sections: { heading: string; rules: Rule[] }[] = [];
  for (const line of text.slice(text.indexOf('\n## ') + 1).split('\n')) {
    const [, heading] = HEADING.exec(line) ?? [];
    const [, id, words] = RULE.exec(line) ?? [];
    const [, open] = OPEN.exec(line) ?? [];
    const rules = sections.at(-1)?.rules ?? [];
    const last = rules.at(-1);
    if (heading !== undefined) sections.push({ heading, rules: [] });
    else if (id !== undefined && words !== undefined) rules.push({ id, text: words });
    else if (open !== undefined && last !== undefined) rules[rules.length - 1] = { ...last, open };
    else if (line !== '') throw new Error(`scripts/rules/rules.md: neither a heading nor a rule: ${line}`);
  }
  return sections;
}

/** The sections of `rules.md`. */
export function readRules(): readonly Section[] {
  return parseRules(readFileSync(new URL('rules.md', import.meta.url), 'utf8'));
}

// Writes docs/RULES.md: each rule of the interface and the tests that prove it. `npm run rules [-- --check]`; ends with 1
// when a named test does not exist, a rule is listed twice, or, with --check, the page is out of date.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { renderPage } from './page.ts';
import type { Rule } from './rule.ts';
import { RULES_OF_EDGES } from './rules-of-edges.ts';
import { RULES_OF_ENDPOINTS } from './rules-of-endpoints.ts';
import { RULES_OF_MESSAGES } from './rules-of-messages.ts';
import { RULES_OF_OFFICE } from './rules-of-office.ts';
import { RULES_OF_OFFICE_DECISIONS } from './rules-of-office-decisions.ts';
import { RULES_OF_OPERATION } from './rules-of-operation.ts';
import { RULES_OF_PUBLISHING } from './rules-of-publishing.ts';
import { RULES_OF_PUBLISHING_DECISIONS } from './rules-of-publishing-decisions.ts';
import { RULES_OF_SCHEDULES } from './rules-of-schedules.ts';
import { RULES_OF_STATES } from './rules-of-states.ts';
import { titlesIn } from './titles.ts';

const { values: options } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
const PAGE = fileURLToPath(new URL('../../docs/RULES.md', import.meta.url));
const TESTS = new URL('../../test/', import.meta.url);
const RULES = inOrder([
  ...RULES_OF_STATES,
  ...RULES_OF_ENDPOINTS,
  ...RULES_OF_MESSAGES,
  ...RULES_OF_OFFICE,
  ...RULES_OF_PUBLISHING,
  ...RULES_OF_PUBLISHING_DECISIONS,
  ...RULES_OF_OFFICE_DECISIONS,
  ...RULES_OF_EDGES,
  ...RULES_OF_SCHEDULES,
  ...RULES_OF_OPERATION,
]);

/** Sections in the order of the specification, then the decisions; rules within one keep their order. */
function inOrder(rules: readonly Rule[]): readonly Rule[] {
  const section = ({ id }: Rule) => Number(/^§([\d.]+)/.exec(id)?.[1] ?? Number.MAX_VALUE);
  return rules.toSorted((one, other) => section(one) - section(other));
}

async function findFaults(): Promise<string[]> {
  const sources = new Map<string, ReadonlySet<string>>();
  const faults: string[] = [];
  for (const { id, proofs } of RULES) {
    if (RULES.filter((other) => other.id === id).length > 1) faults.push(`${id} is listed more than once`);
    for (const [file, titles] of Object.entries(proofs)) {
      const known = sources.get(file) ?? titlesIn(await readFile(new URL(file, TESTS), 'utf8').catch(() => ''));
      sources.set(file, known);
      if (titles.length === 0) faults.push(`${id}: ${file} is named without a test`);
      for (const title of titles) if (!known.has(title)) faults.push(`${id}: no test "${title}" in test/${file}`);
    }
  }
  return faults;
}

const faults = await findFaults();
const page = renderPage(RULES);
if (options.check && (await readFile(PAGE, 'utf8').catch(() => '')) !== page)
  faults.push('docs/RULES.md is out of date: npm run rules');
for (const fault of faults) process.stderr.write(`${fault}\n`);
if (!options.check && faults.length === 0) await writeFile(PAGE, page);
process.exitCode = faults.length === 0 ? 0 : 1;

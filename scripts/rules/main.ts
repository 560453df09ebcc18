// Writes docs/RULES.md: each rule of the interface and the tests that prove it. `npm run rules [-- --check]`; ends with 1
// when a rule, a tag or a section is at fault, or, with --check, the page is out of date.
import { glob, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { faultsOf } from './faults.ts';
import { renderPage } from './page.ts';
import { type Proof, proofsIn } from './proofs.ts';
import { readRules } from './rules.ts';

const { values: options } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
const PAGE = fileURLToPath(new URL('../../docs/RULES.md', import.meta.url));
const TESTS = fileURLToPath(new URL('../../test/', import.meta.url));

async function readProofs(): Promise<readonly Proof[]> {
  const files = (await Array.fromAsync(glob('**/*.test.ts', { cwd: TESTS }))).toSorted();
  const proofs = await Promise.all(files.map(async (file) => proofsIn(file, await readFile(TESTS + file, 'utf8'))));
  return proofs.flat();
}

const sections = readRules();
const proofs = await readProofs();
const faults = [...faultsOf(sections, proofs)];
const page = renderPage(sections, proofs);
if (options.check && (await readFile(PAGE, 'utf8').catch(() => '')) !== page)
  faults.push('docs/RULES.md is out of date: npm run rules');
for (const fault of faults) process.stderr.write(`${fault}\n`);
if (!options.check && faults.length === 0) await writeFile(PAGE, page);
process.exitCode = faults.length === 0 ? 0 : 1;

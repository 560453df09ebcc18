// Writes config/errand.yaml and docs/SETTINGS.md from the table of settings: `npm run settings [-- --check]`. Ends with 1
// when, with --check, one of them is out of date.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { renderFile } from './file.ts';
import { renderPage } from './page.ts';

const { values: options } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
const OUTPUTS = { 'config/errand.yaml': renderFile(), 'docs/SETTINGS.md': renderPage() };

for (const [name, text] of Object.entries(OUTPUTS)) {
  const file = fileURLToPath(new URL(`../../${name}`, import.meta.url));
  if ((await readFile(file, 'utf8').catch(() => '')) === text) continue;
  if (!options.check) {
    await writeFile(file, text);
    continue;
  }
  process.stderr.write(`${name} is out of date: npm run settings\n`);
  process.exitCode = 1;
}

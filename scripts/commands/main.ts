// Writes docs/CLI.md from the commands: `npm run commands [-- --check]`, which ends with 1 when the page is out of date. With
// `--man DIR`, writes the manual pages into that directory instead.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { VERSION } from '../../src/version.ts';
import { renderManual } from './man.ts';
import { renderPage } from './page.ts';
import { readCommands } from './tree.ts';

const PAGE = 'docs/CLI.md';

const { values: options } = parseArgs({
  options: { check: { type: 'boolean', default: false }, man: { type: 'string' } },
});
const commands = await readCommands();

if (options.man !== undefined) {
  await mkdir(options.man, { recursive: true });
  for (const [name, text] of renderManual(commands, VERSION)) await writeFile(path.join(options.man, name), text);
} else {
  const file = fileURLToPath(new URL(`../../${PAGE}`, import.meta.url));
  const text = renderPage(commands);
  const isCurrent = (await readFile(file, 'utf8').catch(() => '')) === text;
  if (!isCurrent && options.check) {
    process.stderr.write(`${PAGE} is out of date: npm run commands\n`);
    process.exitCode = 1;
  } else if (!isCurrent) {
    await writeFile(file, text);
  }
}

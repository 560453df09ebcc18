// Collects the licences of everything that is in a package.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Component } from './components.ts';
import { packageFolder } from './parts.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const RULE = `\n${'-'.repeat(80)}\n\n`;

/** One text: Errand's own licence, then each package with its name, its licence's name and its texts. */
export async function renderLicenses(components: readonly Component[]): Promise<string> {
  const parts = [`Errand\n\n${readFileSync(path.join(ROOT, 'LICENSE'), 'utf8').trim()}\n`];
  for (const { place, name, version, license } of components) {
    const folder = await packageFolder(place);
    const files = readdirSync(folder)
      .filter((file) => /^(?:licen[cs]e|copying|notice|third)/i.test(file))
      .sort();
    const texts = files.map((file) => readFileSync(path.join(folder, file), 'utf8').trim());
    parts.push(`${[`${name} ${version}: ${license ?? 'see its package'}`, ...texts].join('\n\n')}\n`);
  }
  return parts.join(RULE);
}

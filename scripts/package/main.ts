// Makes the packages: `npm run package [-- --out DIR] [x64] [arm64]`.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { makeExecutable } from './executable.ts';
import { packageFolder } from './parts.ts';
import { type Architecture, TARGETS } from './targets.ts';
import { layTree } from './tree.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function makePackages(architecture: Architecture, out: string): Promise<void> {
  const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const target = TARGETS[architecture];
  const work = mkdtempSync(path.join(out, '.work-'));
  try {
    const tree = await layTree(path.join(work, 'tree'), target);
    const node = path.join(await packageFolder(`node_modules/node-linux-${architecture}`), 'bin/node');
    const file = path.join(out, `errand-${version}-linux-${architecture}`);
    await makeExecutable(tree, node, file);
    say(`${file}  ${(statSync(file).size / 1e6).toFixed(1)} MB`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

const { values, positionals } = parseArgs({
  options: { out: { type: 'string', default: path.join(ROOT, 'packages') } },
  allowPositionals: true,
});
mkdirSync(values.out, { recursive: true });
const architectures = positionals.length === 0 ? (Object.keys(TARGETS) as Architecture[]) : (positionals as Architecture[]);
for (const architecture of architectures) await makePackages(architecture, values.out);

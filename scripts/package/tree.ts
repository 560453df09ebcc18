// Lays out the program as a package has it: the bundle, the native packages, and the files that it reads.
import { chmodSync, cpSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeInterface } from '../openapi/describe.ts';
import { compiledAddon } from './addon/addon.ts';
import { bundle, READ_BY_PLAYWRIGHT } from './bundle.ts';
import { packageFolder } from './parts.ts';
import type { Target } from './targets.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface Tree {
  readonly directory: string;
  /** The files of the checkout that are in it. */
  readonly inputs: readonly string[];
  /** Whether the addon of the database was compiled for old systems. */
  readonly isCompiled: boolean;
}

/** Writes it into an empty directory. `isDraft`: for a test, with what is quick to make and starts on this machine. */
export async function layTree(directory: string, target: Target, { isDraft = false } = {}): Promise<Tree> {
  const { architecture } = target;
  const { inputs } = await bundle(directory, !isDraft);
  const copy = (from: string, to: string) => cpSync(from, path.join(directory, to), { recursive: true });
  copy(path.join(ROOT, 'src/http/share/static'), 'dist/http/share/static');
  copy(path.join(ROOT, 'config'), 'config');
  mkdirSync(path.join(directory, 'docs'));
  writeFileSync(path.join(directory, 'docs/openapi.json'), describeInterface());
  copy(path.join(ROOT, 'LICENSE'), 'LICENSE');
  const { name, version, license, type } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as Record<
    string,
    string
  >;
  writeFileSync(path.join(directory, 'package.json'), `${JSON.stringify({ name, version, license, type })}\n`);

  const sqlite = 'node_modules/better-sqlite3';
  for (const part of ['package.json', 'lib']) copy(path.join(ROOT, sqlite, part), `${sqlite}/${part}`);
  const compiled = isDraft ? null : await compiledAddon(target);
  const prebuilt = `${sqlite}/prebuilds/linux-${architecture}.node`;
  copy(compiled ?? path.join(ROOT, prebuilt), prebuilt);

  const argon = 'node_modules/@node-rs/argon2';
  for (const part of ['package.json', 'index.js']) copy(path.join(ROOT, argon, part), `${argon}/${part}`);
  const native = `${argon}-linux-${architecture}-gnu`;
  copy(await packageFolder(native), native);

  const playwright = 'node_modules/playwright-core';
  for (const part of READ_BY_PLAYWRIGHT) copy(path.join(ROOT, playwright, part), `${playwright}/${part}`);
  setModes(directory);
  return { directory, inputs, isCompiled: compiled !== null };
}

/** The same everywhere, whatever the checkout and the umask have. */
function setModes(directory: string): void {
  chmodSync(directory, 0o755);
  for (const name of filesBelow(directory, '**/*')) {
    const file = path.join(directory, name);
    chmodSync(file, statSync(file).isDirectory() || name.endsWith('.node') ? 0o755 : 0o644);
  }
}

/** Files and directories by a pattern, sorted by name, with `/` as they are everywhere. */
export function filesBelow(directory: string, pattern: string): readonly string[] {
  mkdirSync(directory, { recursive: true });
  return globSync(pattern, { cwd: directory, exclude: ['**/README.md'] }).sort();
}

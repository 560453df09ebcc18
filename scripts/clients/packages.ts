// The packages of the clients: those that the project doesn't have are installed for the trial, each in a folder of its own.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** What is installed for a trial; see `Client.packages`. */
export interface Installed {
  readonly packages: readonly string[];
}

const OWN = fileURLToPath(new URL('../../node_modules', import.meta.url));

/** Installs what isn't there yet. @throws npm's failure. */
export function install(client: Installed, packages: string): void {
  const folder = folderOf(client, packages);
  if (folder === null || existsSync(path.join(folder, 'node_modules'))) return;
  process.stdout.write(`installing ${client.packages.join(', ')}\n`);
  mkdirSync(folder, { recursive: true });
  const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefix', folder];
  execFileSync('npm', ['install', ...options, ...client.packages], { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Where its packages are; null when they are the project's own. */
export function folderOf({ packages: [first] }: Installed, packages: string): string | null {
  const at = first!.lastIndexOf('@');
  return at <= 0 ? null : path.join(packages, first!.replaceAll('/', '+'));
}

/** The version that was tried. */
export function shownVersion({ packages: [first] }: Installed): string {
  const at = first!.lastIndexOf('@');
  if (at > 0) return first!.slice(at + 1);
  const { version } = JSON.parse(readFileSync(path.join(OWN, first!, 'package.json'), 'utf8')) as { version: string };
  return version;
}

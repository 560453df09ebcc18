// The Debian that an image stands on.
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { runTool } from '../run-tool.ts';
import type { Target } from '../targets.ts';

const SUITE = 'bookworm';
/** bubblewrap for the sandbox; tini to end what commands leave behind, as the first process of a system does. */
const PACKAGES = ['bubblewrap', 'ca-certificates', 'tini', 'tzdata'];

/** What differs from one machine or day to the next, and what a container gets from outside. */
const LEFT_OUT = [
  './dev/*',
  './proc/*',
  './sys/*',
  './run/*',
  './tmp/*',
  './debootstrap',
  './var/cache/*',
  './var/log/*',
  './var/tmp/*',
  './var/lib/apt/lists/*',
  './var/lib/dpkg/*-old',
  './etc/machine-id',
  './etc/hostname',
  './etc/hosts',
  './etc/resolv.conf',
  './etc/.pwd.lock',
  // These are in the layer of the program, with its user.
  ...['passwd', 'group', 'shadow', 'gshadow'].flatMap((name) => [`./etc/${name}`, `./etc/${name}-`]),
];

/** Fetches it into an empty directory. Throws when this machine can't. */
export async function fetchBase(directory: string, { debian }: Target): Promise<void> {
  if (process.getuid?.() !== 0) throw new Error('debootstrap needs root');
  mkdirSync(directory, { recursive: true });
  const args = [`--arch=${debian}`, '--variant=minbase', `--include=${PACKAGES.join(',')}`, SUITE, directory];
  await runTool('debootstrap', args);
}

/** Writes it as a layer: the same for the same packages, whenever it was fetched. */
export async function writeBase(directory: string, epoch: number, file: string): Promise<void> {
  const excluded = LEFT_OUT.map((pattern) => `--exclude=${pattern}`);
  await runTool('tar', [...TAR_FLAGS(epoch), '--numeric-owner', ...excluded, '-cf', file, '-C', directory, '.']);
}

/** Names in order, and no time after the commit. */
export const TAR_FLAGS = (epoch: number): readonly string[] => [
  '--format=gnu',
  '--sort=name',
  `--mtime=@${epoch}`,
  '--clamp-mtime',
  '--anchored',
  '--no-wildcards-match-slash',
];

/** One of its lists of users or groups, without the days on which passwords were changed. */
export function listOf(directory: string, name: string): string {
  const text = readFileSync(path.join(directory, 'etc', name), 'utf8');
  return name === 'shadow' ? text.replaceAll(/^([^:]*:[^:]*):\d*:/gm, '$1::') : text;
}

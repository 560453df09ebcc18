// A data directory on a disk of its own that isn't mounted yet: the empty folder in its place must not become a new installation.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { ErrandError } from '../../domain/errors.ts';

/** Throws `unavailable` when /etc/fstab names a mount at or above the directory that isn't there now. */
export function requireMounted(directory: string): void {
  const missing = missingMountOf(resolve(directory), textOf('/etc/fstab'), textOf('/proc/self/mountinfo'));
  if (missing === null) return;
  const words = `${directory} is empty, and ${missing}, which /etc/fstab names, is not mounted: nothing is created there.`;
  throw new ErrandError('unavailable', `${words} Run: mount ${missing}`);
}

/** The mount point; null when all are mounted, or nothing is known of them. */
export function missingMountOf(directory: string, fstab: string, mountinfo: string): string | null {
  const mounted = new Set(linesOf(mountinfo).map((fields) => plain(fields[4] ?? '')));
  const named = linesOf(fstab).flatMap(([device = '#', point = '']) => (device.startsWith('#') ? [] : [plain(point)]));
  const isOnTheWay = (point: string) => point !== '/' && `${directory}/`.startsWith(`${point}/`);
  return mountinfo === '' ? null : (named.find((point) => isOnTheWay(point) && !mounted.has(point)) ?? null);
}

const linesOf = (text: string): string[][] => text.split('\n').map((line) => line.trim().split(/\s+/));

/** Both files write blanks and backslashes as octal numbers, and people a slash at the end. */
const plain = (path: string): string =>
  path
    .replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
    .replace(/(?<=.)\/+$/, '');

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

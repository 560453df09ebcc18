// Which of the kernel's users owns a file, as this process sees it.
import { readFileSync } from 'node:fs';

/** What the kernel shows for every user that a namespace has no id for, unless it is set otherwise. */
const OVERFLOW_ID = 65_534;

/**
 * Whether this process is root of a user namespace alone, as the daemon under its unit. The bus of the system refuses it, since it
 * has another id there.
 */
export function isInNamespace(): boolean {
  return !/^\s*0\s+0\s+4294967295\s*$/.test(contentsOf('/proc/self/uid_map') ?? '0 0 4294967295');
}

/** Whether a file with this owner is root's. In a namespace, the machine's root is one of those that have no id there. */
export function isRoots(uid: number): boolean {
  if (!isInNamespace()) return uid === 0;
  return uid === Number(contentsOf('/proc/sys/kernel/overflowuid') ?? OVERFLOW_ID);
}

function contentsOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

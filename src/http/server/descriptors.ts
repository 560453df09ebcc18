// How many files and connections the process may have open, as the system says.
import { readFileSync } from 'node:fs';

/** What systems allow when nobody has said otherwise. */
const USUAL = 1_024;

/** The limit in force. Node raises it to the highest that the process may have, so the system is asked. */
export function maxDescriptors(limits = readLimits()): number {
  const found = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
  return found === undefined ? USUAL : Number(found);
}

function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}

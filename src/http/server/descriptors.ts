// How many files and connections the system allows the process to have open.
import { readFileSync } from 'node:fs';

/** The usual default of systems. */
const USUAL = 1_024;

/** The limit in effect. Node raises it to the maximum of the process, so the system is asked. */
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

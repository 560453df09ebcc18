// How many files and connections this process may have open.
import { readFileSync } from 'node:fs';

/** Below this, connections, models, sandboxes and files are refused under load. */
const ENOUGH = 4_096;

/** What to do about a low limit, in words for operators; null when it is high enough or unknown. */
export function adviceOnDescriptors(limits: string = readLimits()): string | null {
  const limit = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
  if (limit === undefined || Number(limit) >= ENOUGH) return null;
  return `only ${limit} files and connections may be open at once: set LimitNOFILE (systemd) or ulimit -n to ${ENOUGH} or more`;
}

function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}

// The systemd journal as standard error: lines with their priority, so that `journalctl -p warning` finds them.
import { fstatSync } from 'node:fs';

/** Syslog's priorities of the log's levels. */
const PRIORITIES: Readonly<Record<string, number>> = { fatal: 2, error: 3, warn: 4, info: 6, debug: 7, trace: 7 };
const INFO = 6;

/** Whether a descriptor is the stream that systemd opened to its journal (`JOURNAL_STREAM`). */
export function isJournal(journalStream: string | null, fd: number): boolean {
  if (journalStream === null) return false;
  try {
    const { dev, ino } = fstatSync(fd, { bigint: true });
    return `${dev}:${ino}` === journalStream;
  } catch {
    return false;
  }
}

/** A line of the log with its priority in front, which the journal takes away. */
export function withPriority(line: string): string {
  const level = /^\{"level":"([a-z]+)"/.exec(line)?.[1];
  return `<${PRIORITIES[level ?? ''] ?? INFO}>${line}`;
}

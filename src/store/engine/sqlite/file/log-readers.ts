// Who keeps an old state of a database open, so that its write-ahead log can't restart: the kernel lists the locks of readers.
import { readFileSync, statSync } from 'node:fs';

export interface LogReader {
  readonly pid: number;
  /** The name of its program; null when it can't be seen. */
  readonly name: string | null;
}

/** The locks of readers in the index of a write-ahead log, by SQLite's file format. */
const [FIRST, LAST] = [123, 127];
/** `12: POSIX  ADVISORY  READ 4711 fe:00:2852081 124 124`. */
const LOCK = /^\d+: POSIX +ADVISORY +READ +(\d+) +[\da-f]+:[\da-f]+:(\d+) (\d+) (\d+)$/;
const MAX_READERS = 5;

/** The processes that read a database at this moment, at most five; empty also where the kernel doesn't say. */
export function readersOf(file: string): readonly LogReader[] {
  const index = statSync(`${file}-shm`, { throwIfNoEntry: false });
  if (index === undefined) return [];
  const pids = new Set<number>();
  for (const line of textOf('/proc/locks')?.split('\n') ?? []) {
    const [, pid, inode, start, end] = (LOCK.exec(line) ?? []).map(Number);
    if (inode === index.ino && start! <= LAST && end! >= FIRST) pids.add(pid!);
  }
  return [...pids].slice(0, MAX_READERS).map((pid) => ({ pid, name: textOf(`/proc/${pid}/comm`)?.trim() ?? null }));
}

/** In the words of a report. */
export function wordsOfReaders(readers: readonly LogReader[], ownPid: number): string {
  const own = readers.some(({ pid }) => pid === ownPid) ? ['a backup or an examination of Errand'] : [];
  const others = readers.filter(({ pid }) => pid !== ownPid);
  const words = [...own, ...others.map(({ pid, name }) => `process ${pid}${name === null ? '' : ` (${name})`}`)];
  if (words.length === 0) return 'a backup or another process reads an old state of it';
  return `${words.join(' and ')} read${words.length === 1 ? 's' : ''} an old state of it`;
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

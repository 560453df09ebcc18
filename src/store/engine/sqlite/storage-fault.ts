// Classifies SQLite's errors about its disk and its file, and words them for callers and for operators.
import { basename } from 'node:path';
import Connection from 'better-sqlite3';
import { ErrandError } from '../../../domain/errors.ts';
import { StorageRefusal } from '../storage-refusal.ts';

/**
 * `locked`: another process is writing, or prevents others from writing. `lost`: what was written may not be on the disk,
 * and the kernel can't report it. `damaged`: the file is not what SQLite wrote. `refused`: the disk accepted nothing; it may
 * later.
 */
type FaultKind = 'locked' | 'lost' | 'damaged' | 'refused';

interface Fault {
  readonly codes: RegExp;
  readonly kind: FaultKind;
  /** Completes "The daemon's storage …". Callers read it: no paths, no codes. */
  readonly words: string;
}

// In this order: the first match applies.
const FAULTS: readonly Fault[] = [
  { codes: /^SQLITE_(BUSY|LOCKED)/, kind: 'locked', words: 'is locked by another process' },
  {
    codes: /^SQLITE_IOERR_(DIR_)?FSYNC$/,
    kind: 'lost',
    words: 'refuses to write: the disk failed to keep what it was given',
  },
  { codes: /^SQLITE_(CORRUPT|NOTADB)/, kind: 'damaged', words: 'is damaged' },
  { codes: /^SQLITE_FULL/, kind: 'refused', words: 'refuses to write: no space is left on the disk' },
  { codes: /^SQLITE_READONLY/, kind: 'refused', words: 'refuses to write: it is read-only' },
  { codes: /^SQLITE_IOERR/, kind: 'refused', words: 'refuses to write: the disk fails' },
  { codes: /^SQLITE_(CANTOPEN|NOMEM|PERM)/, kind: 'refused', words: 'refuses to write' },
];

type SqliteError = InstanceType<typeof Connection.SqliteError>;

function faultOf(error: unknown): (Fault & { readonly error: SqliteError }) | undefined {
  // Other errors keep their own messages, whatever caused them.
  const isOurs = error instanceof ErrandError && error.reason === 'unavailable';
  const thrown = isOurs ? error.cause : error;
  if (!(thrown instanceof Connection.SqliteError)) return undefined;
  const fault = FAULTS.find(({ codes }) => codes.test(thrown.code));
  return fault === undefined ? undefined : { ...fault, error: thrown };
}

/** The kind of fault behind an error of SQLite, or behind what `refusalOf` made of one; undefined for any other error. */
export function faultKindOf(error: unknown): FaultKind | undefined {
  return faultOf(error)?.kind;
}

/** Whether a write failed only because another process held the database. */
export function isLocked(error: unknown): boolean {
  return faultKindOf(error) === 'locked';
}

/** Whether the disk is out of space; on some file systems that first shows in the log's index. */
export function lacksSpace(error: unknown): boolean {
  const fault = faultOf(error);
  return fault !== undefined && /^SQLITE_(FULL|IOERR_(WRITE|SHM|TRUNCATE))/.test(fault.error.code);
}

/** The error for a caller: `unavailable` for trouble with the storage. Any other error unchanged. */
export function refusalOf(error: unknown): unknown {
  const fault = faultOf(error);
  if (fault === undefined || error instanceof ErrandError) return error;
  return new StorageRefusal(`The daemon's storage ${fault.words}.`, { passes: fault.kind === 'locked', cause: error });
}

const ADVICE: Readonly<Record<FaultKind, (file: string) => string>> = {
  locked: (file) => `End what holds it (see: fuser ${file}), and start again.`,
  lost: () => 'Check the disk, then start again: the daemon continues from what is there.',
  damaged: (file) =>
    `Stop the daemon, keep a copy of the file, and put a backup in its place; or save what can be read: ` +
    `sqlite3 ${file} .recover | sqlite3 ${basename(file)}.saved`,
  refused: () => 'Check the disk: its space, its mount and the permissions of the file.',
};

/** The same for the operator: which file it is, and what to do. Any other error unchanged. */
export function explainToOperator(error: unknown, file: string): unknown {
  const fault = faultOf(error);
  if (fault === undefined) return error;
  const { code, message } = fault.error;
  const words = `${file} ${fault.words} (${message}, ${code}). ${ADVICE[fault.kind](file)}`;
  return new ErrandError('unavailable', words, { cause: fault.error });
}

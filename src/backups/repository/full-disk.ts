// The failure that whoever makes backups can mend: a disk without space.
import { ErrandError } from '../../domain/errors.ts';
import { isNoSpace, lacksSpace } from '../../files/blobs/no-space.ts';
import { lacksSpace as databaseLacksSpace } from '../../store/engine/sqlite/storage-fault.ts';

/** Whether anything failed for lack of space: a system call, SQLite, or what `fullDisk` made of either. */
export function isFullDisk(error: unknown): boolean {
  return lacksSpace(error) || databaseLacksSpace(error) || isNoSpace(error);
}

/** The error for whoever asked, which `isFullDisk` recognises. */
export function fullDisk(words: string, reason = words): ErrandError {
  return new ErrandError('unavailable', words, { cause: Object.assign(new Error(reason), { code: 'ENOSPC' }) });
}

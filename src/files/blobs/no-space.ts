// The storage failures that resolve themselves: a full disk gets space back, a bucket comes back.
import { codeOf, ErrandError } from '../../domain/errors.ts';
import { isStorageAway } from './s3/s3-error.ts';

const CODES: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);

/** Whether a system call failed for lack of space. */
export function lacksSpace(error: unknown): boolean {
  return CODES.has(codeOf(error) ?? '');
}

/** The form of such an error for other threads, with a message for the caller. */
export function noSpace(): ErrandError {
  const cause = Object.assign(new Error('A write was refused.'), { code: 'ENOSPC' });
  return new ErrandError('unavailable', 'There is no space left on the disk.', { cause });
}

/** Whether what failed can be retried: there was no space, or the bucket was away. */
export function mayBeStored(error: unknown): boolean {
  return isNoSpace(error) || isStorageAway(error);
}

/** Whether there was no space. */
export function isNoSpace(error: unknown): boolean {
  return error instanceof ErrandError && lacksSpace(error.cause);
}
